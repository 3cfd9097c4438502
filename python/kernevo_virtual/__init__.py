"""PyTorch and Triton on kernevo's virtual GPU: what `kernevo setup python` puts into an environment."""
