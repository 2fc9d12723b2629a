// The metrics of the hit pipeline from the spool to the engine, for `/metrics`.

import type { Metric } from '../../http/health-and-metrics.ts'
import { counter, gauge } from '../../http/telemetry/metric.ts'
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

/** @returns the current values */
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
    ...Object.entries(outcomes).map(([outcome, value]) =>
      counter('towpath_hits_total', 'Hits recorded since the start, by result', value, { outcome }),
    ),
    gauge('towpath_hits_waiting', 'Hits that wait in memory because the disk is full', waiting),
    counter('towpath_hits_dropped_total', 'Hits lost because the disk is full', dropped),
    gauge('towpath_disk_free_bytes', 'Free space of DATA_DIR', disk.free()),
    gauge(
      'towpath_disk_low',
      'Whether the disk is below its mark: one hit in ten is recorded, forms answer 503',
      Number(disk.isLow()),
    ),
    counter('towpath_hits_left_out_total', 'Hits not recorded because the disk is low: nine of ten', leftOut),
    counter(
      'towpath_hits_shortened_total',
      'Hits without campaign and referrer, because long ones from one address or for one workspace were too many',
      shortened,
    ),
  ]
}

const toEngineMetrics = (state: ReturnType<HitWorkerClient['state']>): Metric[] => [
  gauge('towpath_engine_up', 'Whether analytics answer', Number(state.engineUp)),
  counter(
    'towpath_engine_failures_total',
    'How often the hit engine died or could not be opened; it is opened again',
    state.engineFailures,
  ),
  counter(
    'towpath_hit_worker_restarts_total',
    'How often the hit worker ended unasked; it is started again',
    state.restarts,
  ),
  gauge('towpath_engine_batch', 'Last batch in the engine', state.mark),
  counter(
    'towpath_batches_unreadable_total',
    'Batches of hits set aside because the disk had damaged them',
    state.lost.batches,
  ),
  counter('towpath_hits_unreadable_total', 'Hits in such batches, which analytics lack', state.lost.hits),
]

/** The lag of hits: from the spool into batches, and from there into the answers of analytics. */
function toLagMetrics(
  spool: Pick<SpoolGuard, 'countBytesSince'>,
  state: ReturnType<HitWorkerClient['state']>,
  now: number,
): Metric[] {
  const { shipped, position, until } = state
  // After a start the lag is unknown until the worker has reported its progress.
  if (shipped.position.seq === 0) return []
  const unshipped = Math.max(0, spool.countBytesSince(shipped.position))
  const isBehind = spool.countBytesSince(position) > 0
  const toSeconds = (since: number) => Math.max(0, now - Math.max(since, performance.timeOrigin)) / 1000
  return [
    gauge('towpath_spool_lag_bytes', 'Bytes of the spool that are not in a batch yet', unshipped),
    gauge(
      'towpath_spool_lag_seconds',
      'Age of the oldest hit that may not be in a batch yet',
      unshipped === 0 ? 0 : toSeconds(shipped.until),
    ),
    ...toBatchMetrics(state),
    gauge(
      'towpath_hits_lag_seconds',
      'Age of the oldest hit that analytics may lack',
      isBehind ? toSeconds(until) : 0,
    ),
  ]
}

const toBatchMetrics = (state: Pick<WorkerProgress, 'waiting' | 'bytesMax'>): Metric[] => [
  gauge(
    'towpath_batches_waiting',
    'Batches of hits on the disk that the hit store does not have yet',
    state.waiting.batches,
  ),
  gauge('towpath_batches_waiting_bytes', 'Bytes of such batches', state.waiting.bytes),
  gauge(
    'towpath_batches_max_bytes',
    'Bytes that batches may take while the hit store is unavailable; later hits stay in the spool',
    state.bytesMax,
  ),
]

const toQuestionMetrics = (questions: QuestionStats): Metric[] => [
  gauge('towpath_questions_pending', 'Analytics questions without an answer yet', questions.pending),
  counter(
    'towpath_questions_refused_total',
    'Analytics questions refused because their workspace had too many pending',
    questions.refused,
  ),
  counter(
    'towpath_questions_shared_total',
    'Analytics questions answered with the answer to the same question of the same moment',
    questions.shared,
  ),
]

function toOriginMetrics(origins: QuestionOrigins): Metric[] {
  const toQuestions = (from: string, value: number) =>
    counter('towpath_questions_total', 'Answered analytics questions by data source', value, { from })
  const toDays = (from: string, value: number) =>
    counter('towpath_question_dates_total', 'Days of analytics questions by data source', value, { from })
  return [
    toQuestions('roll_ups', origins.fromRollUps),
    toQuestions('both', origins.fromBoth),
    toQuestions('hits', origins.fromHits),
    toDays('roll_ups', origins.rolledUpDays),
    toDays('hits', origins.hitDays),
  ]
}

export const toRollUpMetrics = ({ waiting, made, failures }: RollUpStats): Metric[] => [
  // Omits the number while it is unknown, because 0 would mean that no days wait.
  ...(waiting === undefined
    ? []
    : [
        gauge(
          'towpath_roll_ups_waiting',
          'Closed days that are not rolled up: questions about them read their hits',
          waiting,
        ),
      ]),
  counter('towpath_roll_ups_total', 'Closed days and months that were rolled up', made),
  counter('towpath_roll_up_failures_total', 'Roll-ups that failed; each is tried again', failures),
]
