"""Models as ONNX graphs, which predict in any language that has an ONNX runtime."""

from aldsurv.export.onnx.writing import OUTPUTS, PRECISIONS, OnnxExport, build_onnx

__all__ = ["OUTPUTS", "PRECISIONS", "OnnxExport", "build_onnx"]
