"""The service under load: latency beside a plain function, many clients at once, fuzzed bodies."""
