"""Known-truth worlds: banks and judges whose every verdict is right or wrong by construction."""
