"""The one exception of the package."""


class Error(Exception):
    """What attica refuses to do, in the program's own sentence.

    `exit_code` is the program's: 2 usage or configuration, 4 numerical failure, 5 output and run folders, 75 stopped at a
    checkpoint. A run that ended with a numerical failure is left in `run`, the path of its folder; else that is None.
    """

    def __init__(self, message: str, exit_code: int = 2, run: "str | None" = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.run = run
