"""Run the cells of an experiment, and answer questions about a results folder that need the experiment itself.

The main path of ``probcal run``::

    run.run_experiment             the whole run, in the process of the command
      data_step, identity, plan    which data sets are at hand, what decides each cell's numbers, and so which cells run
      pool.run_cells               gives the cells to workers, with time limits; dask.run_cells does it on a cluster
        worker.Worker              a worker seen from the run: its process, its output, and whether it died
          worker_process.serve     the same worker from inside: run_isolated_cell for one cell after another
            execute.execute        rows (cell_rows), fit and prediction (fit_predict), metrics, one result
      store.Store.add              each result is on disk before the next is awaited
      progress.RunProgress         what the user sees of it

A cell has ended when its result is stored, and it is done when it ended with success. A cell that fails takes the same
path, and ``execute`` tells where its result comes from. ``interruption`` ends a command on Ctrl-C. ``progress`` tells
how far a run is, to its terminal and to others, and ``time_left`` how long it takes.

``shared_imports`` lets the program ``probcal`` and its workers import scikit-learn once for all of them.

Other commands use ``status``, ``verify`` and ``recompute`` (are stored numbers right?), ``merge`` (join folders), and
``stale_data`` (were they made of the present data?). ``witness`` shows whether an edit of the code changed a number.
"""
