// From the written form of a recipe (Recipe.as_dict) and a user's criterion function to the core's.
//
// recipe.py has checked everything; a choice the core does not know means that the two versions differ.
#pragma once

#include <nanobind/nanobind.h>

#include "base/recipe.hpp"
#include "split/scorer.hpp"

namespace tw {

Recipe read_recipe(const nanobind::dict& written, bool classes);
CustomScore python_criterion(nanobind::object function);

} // namespace tw
