"""stub"""


def class_colours(n: int) -> list[str]:
    base = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#5b5b5b"]
    return [base[i % 8] for i in range(n)]


def number_colours() -> list[str]:
    return ["#fde725", "#5ec962", "#21918c", "#3b528b", "#440154"]
