#!/usr/bin/env bash
# Everything that wants real cards, step by step; what came of it stands in docs/benchmarks.md.
#   ENGINE=PYTHON BIG=DIR OUT=DIR tools/cards.sh STEP ...
# ENGINE: an interpreter that has vLLM. BIG: the 26B's configuration and tokenizer (weights are made up). OUT: what is
# seen, a log for each step. LIMIT: seconds for all steps of the call; each has its own limit, and a step for which less
# than half a minute is left is skipped. PYTHON: an interpreter with this program's packages.
#   one card:   small, cost CARD, stress CARD, pairs CARD, grid CARD
#   two cards:  plan, whole, whole-3090, decisions-3090, single, pair1, pair2-p2p, pair8, kills, rates
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${ENGINE:?}" "${BIG:?}" "${OUT:?}"
PYTHON=${PYTHON:-python3}
SMALL=${SMALL:-$OUT/small}
END=$((SECONDS + ${LIMIT:-3600}))
mkdir -p "$OUT"
export PYTHONPATH=$PWD${PYTHONPATH:+:$PYTHONPATH} PYTHONUNBUFFERED=1
# Hopper takes paths that the cards of the plan do not: built for minutes (FlashInfer's all-reduce), or multicast.
export VLLM_ALLREDUCE_USE_FLASHINFER=0 VLLM_ALLREDUCE_USE_SYMM_MEM=0 VLLM_USE_DEEP_GEMM=0 VLLM_USE_FLASHINFER_SAMPLER=0

left() { echo $((END - SECONDS)); }

step() {  # NAME MOST COMMAND...: at most so long, and not past the end
  local name=$1 most=$2 rest code=0 began=$SECONDS
  shift 2
  rest=$(($(left) - 12))
  if [ "$rest" -lt 25 ]; then
    echo "== $name: skipped, $rest s are left"
    return 1
  fi
  [ "$most" -lt "$rest" ] || most=$rest
  timeout -k 12 "$most" "$@" > "$OUT/$name.log" 2>&1 || code=$?
  echo "== $name: status $code after $((SECONDS - began)) s"
  [ "$code" = 0 ] || tail -n 15 "$OUT/$name.log" | cut -c1-250
}

skip="--skip-preflight --skip-fixes-check --skip-self-test --text-only"
ampere="$skip --env VLLM_TEST_FORCE_FP8_MARLIN=1"  # Hopper as a card without FP8 units
cap="--gpu-memory-utilization ${SHARE:-0.1384}"    # 19.35 GiB of 139.8: what 0.82 is on a 3090
eager="--load-format dummy --attention-backend TRITON_ATTN --max-model-len 8192 --max-num-seqs 120 --max-num-batched-tokens 15360 --gpu-memory-utilization 0.5 --enforce-eager --diffusion-config '{\"canvas_length\":128}'"
graphs="--load-format dummy --attention-backend TRITON_ATTN --max-model-len 8192 --max-num-seqs 120 --max-num-batched-tokens 15360 --gpu-memory-utilization 0.6 --api-server-count 4 --diffusion-config '{\"canvas_length\":128}' --compilation-config '{\"mode\":3,\"cudagraph_mode\":\"FULL_AND_PIECEWISE\",\"cudagraph_capture_sizes\":[1,8,32,128,512,1024,2048,4096]}'"

dual() {  # NAME MOST WHAT OPTION...: two cards that share a model
  local name=$1 most=$2 what=$3
  shift 3
  DIFFUSION_DESK_HOME=$OUT/home-dual step "$name" "$most" "$PYTHON" -m tools.dual_check "$what" --folder "$OUT/dual" \
    --python "$ENGINE" --cards 0,1 --limit 220 --serve "$ampere --env CUDA_VISIBLE_DEVICES=0,1 ${MORE:-}" "$@"
}

run() {  # STEP CARD
  local card=${2:-0}
  case $1 in
    small) step small 120 "$PYTHON" -m tools.random_checkpoint "$BIG" "$SMALL" --layers 6 ;;
    cost) DIFFUSION_DESK_HOME=$OUT/home-$card step "cost" 430 "$PYTHON" -m tools.live_check --python "$ENGINE" --model "$BIG" \
      --what cost --seconds 75 --cards "$card" --limit 310 --serve "--cards $card --tensor-parallel 1 $skip" \
      -- --load-format dummy --attention-backend TRITON_ATTN ;;
    stress) DIFFUSION_DESK_HOME=$OUT/home-dual step "stress" 420 "$PYTHON" -m tools.live_check --python "$ENGINE" --model "$SMALL" \
      --what stress --requests 10000 --in-flight 48 --seconds 240 --cards "$card" --limit 170 \
      --serve "--machine resources/machines/2x3090-pcie.json $ampere --env CUDA_VISIBLE_DEVICES=$card --env DESK_VLLM_PARTS=tiles,reads,live" \
      -- --tensor-parallel-size 1 --max-num-seqs 32 --max-num-batched-tokens 8192 --gpu-memory-utilization 0.2 ;;
    pairs) CUDA_VISIBLE_DEVICES=$card step "pairs" 330 "$PYTHON" -m engine.cli bench reads --json -- --python "$ENGINE" \
      --model "$BIG" --what pairs --pairs 500 --pairs-seconds 220 --env TORCHDYNAMO_DISABLE=1 --limit 150 --flags "$eager" ;;
    grid) CUDA_VISIBLE_DEVICES=$card step "grid$card" "$(left)" "$PYTHON" -m tools.decisions_grid --python "$ENGINE" \
      --model "$BIG" --folder "$OUT/grid$card" --budget $(($(left) - 20)) --env TORCHDYNAMO_DISABLE=1 ${ONLY:+--only "$ONLY"} ;;
    plan) dual plan 40 plan ;;
    whole) dual whole 240 whole --model "$BIG" --work-limit 60 -- --load-format dummy $cap ;;
    whole-3090) dual whole-3090 240 whole --model "$BIG" --work-limit 75 --leave 23.56 --mixed-whole 40 -- --load-format dummy $cap ;;
    decisions-3090) MORE="--profile decisions" dual plan-decisions 40 plan
      MORE="--profile decisions" dual decisions-3090 240 whole --model "$BIG" --work-limit 60 --leave 23.56 --sequences 6 \
        --mixed-whole 100 -- --load-format dummy $cap ;;
    single) dual single 150 single --model "$SMALL" -- $cap ;;
    pair1) dual pair1 200 pair --model "$SMALL" --sequences 1 --victim "worker 0" -- $cap ;;
    pair2-p2p) dual pair2 180 pair --model "$SMALL" --sequences 2 --p2p --victim "engine core" -- $cap ;;
    pair8) dual pair8 180 pair --model "$SMALL" --sequences 8 --victim "worker 1" -- $cap ;;
    kills) dual kills 270 kills --model "$SMALL" --victims command "api server" guardian -- $cap ;;
    rates) step rates 460 "$PYTHON" -m engine.cli bench reads --json -- --python "$ENGINE" --model "$BIG" --what rates \
      --seconds 6 --cards 0 1 --limit 280 --flags "$graphs" ;;
    *) echo "there is no step $1"; exit 2 ;;
  esac
}

while [ $# -gt 0 ]; do
  case ${2:-} in
    [0-9]) run "$1" "$2"; shift 2 ;;
    *) run "$1"; shift ;;
  esac
done
[ ! -e "$OUT/dual/dual.md" ] || cut -c1-330 "$OUT/dual/dual.md"
