"""What `make run` shows."""

import arbornet

print(f"arbornet {arbornet.__version__}")
