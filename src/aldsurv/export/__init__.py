"""A fitted model taken out of Python: a page that predicts, ONNX, SQL, a model card."""
