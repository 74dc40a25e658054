"""The toy engine: a DiffusionGemma of a few million parameters on onnxruntime, behind the HTTP wire of vLLM 0.33.0.

Read in this order: ``tokenizer`` and ``model`` (what the files hold), ``sampler`` (one canvas), ``generate`` (one
request), ``engine`` (many requests, one thread), ``wire`` and ``parameters`` (what a client may ask), ``handlers``
(one module per group of endpoints), ``server``.
"""
