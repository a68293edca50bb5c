"""Growing: encoded rows, a schema and a recipe become a tree. The only package that calls the core to grow.

grow               grow a tree from rows in memory or in partitions
partitions         what partitions offer: the protocol
memory_partitions  partitions in memory, the plain form
partition_worker   what runs where the rows of a partition lie
checks             what a recipe cannot learn from, found before growing starts
weights            class weights, costs and priors as row weights (exact_sums)
"""
