"""Tables that do not fit in memory: on disk or on a Dask cluster.

inputs, chunks                    which inputs are large, and their rows some at a time
encode_chunks                     chunks described and encoded, into memory or onto disk
column_summary                    what the columns are, found partition by partition
disk_partitions, stored_arrays    partitions in a scratch folder (scratch_folder)
dask_partitions, dask_futures     partitions on a cluster
dask_lazy                         predictions as Dask collections
memory_limit                      how much memory may be used
"""
