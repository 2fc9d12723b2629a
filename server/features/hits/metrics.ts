// The metrics of hits on their way from the spool to the engine, for `/metrics`.

import type { Metric } from '../../http/health-and-metrics.ts'
import type { DiskSpace } from '../../storage/disk-space.ts'
import type { QuestionOrigins } from './rollups/question-origins.ts'
import type { RollUpStats } from './rollups/roll-up-loop.ts'
import type { SpoolGuard } from './spool/spool-guard.ts'
import type { HitWorkerClient } from './worker/client.ts'
import type { WorkerProgress } from './worker/protocol.ts'
import type { QuestionStats } from './worker/question-gate.ts'

interface HitMetricsNeeds {
  spool: Pick<SpoolGuard, 'stats' | 'guardStats' | 'countBytesSince'>
  disk: Pick<DiskSpace, 'isLow' | 'free'>
  hitWorker: Pick<HitWorkerClient, 'state'>
  now: () => number
}

/** @returns the values at this moment */
export function readHitMetrics(needs: HitMetricsNeeds): Metric[] {
  const state = needs.hitWorker.state()
  return [
    ...toSpoolMetrics(needs),
    ...toLagMetrics(needs.spool, state, needs.now()),
    ...toEngineMetrics(state),
    ...toQuestionMetrics(state.questions),
    ...toOriginMetrics(state.origins),
    ...toRollUpMetrics(state.rollUps),
  ]
}

function toSpoolMetrics({ spool, disk }: HitMetricsNeeds): Metric[] {
  const { outcomes, waiting, dropped } = spool.stats()
  const { leftOut, shortened } = spool.guardStats()
  return [
    ...Object.entries(outcomes).map(
      ([outcome, value]): Metric => ({
        name: 'towpath_hits_total',
        kind: 'counter',
        help: 'Hits recorded since the start, by result',
        labels: { outcome },
        value,
      }),
    ),
    {
      name: 'towpath_hits_waiting',
      kind: 'gauge',
      help: 'Hits that wait in memory because the disk is full',
      value: waiting,
    },
    {
      name: 'towpath_hits_dropped_total',
      kind: 'counter',
      help: 'Hits lost because the disk is full',
      value: dropped,
    },
    { name: 'towpath_disk_free_bytes', kind: 'gauge', help: 'Free space of DATA_DIR', value: disk.free() },
    {
      name: 'towpath_disk_low',
      kind: 'gauge',
      help: 'Whether the disk is below its mark: one hit in ten is recorded, forms answer 503',
      value: Number(disk.isLow()),
    },
    {
      name: 'towpath_hits_left_out_total',
      kind: 'counter',
      help: 'Hits not recorded because the disk is low: nine of ten',
      value: leftOut,
    },
    {
      name: 'towpath_hits_shortened_total',
      kind: 'counter',
      help: 'Hits without campaign and referrer, because long ones from one address or for one workspace were too many',
      value: shortened,
    },
  ]
}

const toEngineMetrics = (state: ReturnType<HitWorkerClient['state']>): Metric[] => [
  {
    name: 'towpath_engine_up',
    kind: 'gauge',
    help: 'Whether analytics answer',
    value: Number(state.engineUp),
  },
  {
    name: 'towpath_engine_failures_total',
    kind: 'counter',
    help: 'How often the hit engine died or could not be opened; it is opened again',
    value: state.engineFailures,
  },
  {
    name: 'towpath_hit_worker_restarts_total',
    kind: 'counter',
    help: 'How often the hit worker ended unasked; it is started again',
    value: state.restarts,
  },
  { name: 'towpath_engine_batch', kind: 'gauge', help: 'Last batch in the engine', value: state.mark },
  {
    name: 'towpath_batches_unreadable_total',
    kind: 'counter',
    help: 'Batches of hits set aside because the disk had damaged them',
    value: state.lost.batches,
  },
  {
    name: 'towpath_hits_unreadable_total',
    kind: 'counter',
    help: 'Hits in such batches, which analytics lack',
    value: state.lost.hits,
  },
]

/** The lag of hits: from the spool into batches, and from there into the answers of analytics. */
function toLagMetrics(
  spool: Pick<SpoolGuard, 'countBytesSince'>,
  state: ReturnType<HitWorkerClient['state']>,
  now: number,
): Metric[] {
  const { shipped, position, until } = state
  // After a start nothing is known until the worker has said how far it is.
  if (shipped.position.seq === 0) return []
  const unshipped = Math.max(0, spool.countBytesSince(shipped.position))
  const isBehind = spool.countBytesSince(position) > 0
  const toSeconds = (since: number) => Math.max(0, now - Math.max(since, performance.timeOrigin)) / 1000
  return [
    {
      name: 'towpath_spool_lag_bytes',
      kind: 'gauge',
      help: 'Bytes of the spool that are not in a batch yet',
      value: unshipped,
    },
    {
      name: 'towpath_spool_lag_seconds',
      kind: 'gauge',
      help: 'Age of the oldest hit that may not be in a batch yet',
      value: unshipped === 0 ? 0 : toSeconds(shipped.until),
    },
    ...toBatchMetrics(state),
    {
      name: 'towpath_hits_lag_seconds',
      kind: 'gauge',
      help: 'Age of the oldest hit that analytics may lack',
      value: isBehind ? toSeconds(until) : 0,
    },
  ]
}

const toBatchMetrics = (state: Pick<WorkerProgress, 'waiting' | 'bytesMax'>): Metric[] => [
  {
    name: 'towpath_batches_waiting',
    kind: 'gauge',
    help: 'Batches of hits on the disk that the hit store does not have yet',
    value: state.waiting.batches,
  },
  {
    name: 'towpath_batches_waiting_bytes',
    kind: 'gauge',
    help: 'Bytes of such batches',
    value: state.waiting.bytes,
  },
  {
    name: 'towpath_batches_max_bytes',
    kind: 'gauge',
    help: 'Bytes that batches may take while the hit store is away; later hits stay in the spool',
    value: state.bytesMax,
  },
]

const toQuestionMetrics = (questions: QuestionStats): Metric[] => [
  {
    name: 'towpath_questions_pending',
    kind: 'gauge',
    help: 'Analytics questions without an answer yet',
    value: questions.pending,
  },
  {
    name: 'towpath_questions_refused_total',
    kind: 'counter',
    help: 'Analytics questions refused because their workspace had too many pending',
    value: questions.refused,
  },
  {
    name: 'towpath_questions_shared_total',
    kind: 'counter',
    help: 'Analytics questions answered with the answer to the same question of the same moment',
    value: questions.shared,
  },
]

function toOriginMetrics(origins: QuestionOrigins): Metric[] {
  const toQuestions = (from: string, value: number): Metric => ({
    name: 'towpath_questions_total',
    kind: 'counter',
    help: 'Answered analytics questions by data source',
    labels: { from },
    value,
  })
  const toDays = (from: string, value: number): Metric => ({
    name: 'towpath_question_dates_total',
    kind: 'counter',
    help: 'Days of analytics questions by data source',
    labels: { from },
    value,
  })
  return [
    toQuestions('roll_ups', origins.fromRollUps),
    toQuestions('both', origins.fromBoth),
    toQuestions('hits', origins.fromHits),
    toDays('roll_ups', origins.rolledUpDays),
    toDays('hits', origins.hitDays),
  ]
}

export const toRollUpMetrics = ({ waiting, made, failures }: RollUpStats): Metric[] => [
  // Omits the number while it is unknown, because 0 would mean that all is well.
  ...(waiting === undefined ? [] : [toWaitingMetric(waiting)]),
  {
    name: 'towpath_roll_ups_total',
    kind: 'counter',
    help: 'Closed days and months that were rolled up',
    value: made,
  },
  {
    name: 'towpath_roll_up_failures_total',
    kind: 'counter',
    help: 'Roll-ups that failed; each is tried again',
    value: failures,
  },
]

const toWaitingMetric = (value: number): Metric => ({
  name: 'towpath_roll_ups_waiting',
  kind: 'gauge',
  help: 'Closed days that are not rolled up: questions about them read their hits',
  value,
})
