"""`python -m localcloud`: what `spotwarden local` runs."""

from localcloud.commands import main

main(prog_name="spotwarden local")
