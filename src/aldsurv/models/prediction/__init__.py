"""What every fitted model can be asked for beside its distribution."""
