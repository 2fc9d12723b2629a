// Answers the calls of the server: questions, exports, and the removal of hits.

import { Failure, unavailable } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import { createRequestContext, runForRequest } from '../../../lib/telemetry/request-context.ts'
import { getTracer } from '../../../lib/telemetry/tracing.ts'
import type {
  ExplainedAnswer,
  ExportedFile,
  HitExport,
  HitQuery,
  LastClick,
  LastClicksQuery,
} from '../../../storage/hits/hit-engine.ts'
import { packClicks, readNewClicks } from '../batches/new-clicks.ts'
import { addQuestion } from '../rollups/question-origins.ts'
import { isBefore, type SpoolPosition } from '../spool/position.ts'
import { eraseHits, eraseImportedHits, pruneHits } from './erase-hits.ts'
import { reportProgress } from './progress.ts'
import { type MessageToWorker, readQuestion, type WorkerCall } from './protocol.ts'
import { ship } from './ship.ts'
import type { WorkerState } from './worker-state.ts'

/** Time limit of a question that waits for a loading engine. */
const CATCH_UP_MS = 2000

type CallMessage = Extract<MessageToWorker, { type: 'call' }>

/** Its log lines and spans belong to the request behind the call. */
export function answerCall(worker: WorkerState, { id, call, asker }: CallMessage): Promise<void> {
  if (!asker) return answer(worker, id, call)
  const { requestId, traceparent } = asker
  const name = `hits ${call.type}`
  const span =
    traceparent === undefined ? undefined : getTracer()?.start({ name, kind: 'server', parent: traceparent })
  const request = createRequestContext(requestId, name, span)
  return runForRequest(request, () => answer(worker, id, call)).finally(() => span?.end())
}

async function answer(worker: WorkerState, id: number, call: WorkerCall): Promise<void> {
  worker.activeCalls++
  try {
    worker.send({ type: 'answer', id, value: await performCall(worker, id, call) })
  } catch (error) {
    const isUnavailable = error instanceof Failure && error.code === 'unavailable'
    if (!isUnavailable) log.error('hit_question_failed', describeError(error))
    const reason = isUnavailable ? (error.detail.cause ?? error) : error
    const message = reason instanceof Error ? reason.message : String(reason)
    worker.send({ type: 'refusal', id, message, unavailable: isUnavailable })
  } finally {
    worker.activeCalls--
  }
}

/** Ends a call with an error. Only exports can be canceled; every other call runs to its end. */
export function cancelCall({ runningExports }: WorkerState, id: number): void {
  runningExports.get(id)?.abort(unavailable('Nobody waits for it any more'))
}

async function performCall(worker: WorkerState, id: number, call: WorkerCall): Promise<unknown> {
  switch (call.type) {
    case 'ask':
      return explain(worker, readQuestion(call.question))
    case 'lastClicks':
      return findLastClicks(worker, call.query, call.through)
    case 'export':
      return exportHits(worker, id, call.request)
    case 'prune':
      worker.since = call.since
      return worker.maintenanceQueue(() => pruneHits(worker))
    case 'erase':
      return worker.maintenanceQueue(() => eraseHits(worker, call.workspaceIds))
    case 'eraseImported':
      return worker.maintenanceQueue(() => eraseImportedHits(worker, call.hits))
    case 'newClicks':
      worker.toldUpTo = Math.max(worker.toldUpTo ?? 0, call.query.after.batch)
      return packClicks(await readNewClicks(worker.batches, call.query))
    default:
      return worker.engine.use((engine) =>
        (engine[call.type] as (...args: unknown[]) => Promise<unknown>)(...call.args),
      )
  }
}

/** Counts the origin of the answer, and reports it to the server before the answer. */
async function explain(worker: WorkerState, query: HitQuery): Promise<ExplainedAnswer> {
  const answer = await worker.engine.use((engine) => engine.explain(query))
  worker.origins = addQuestion(worker.origins, answer.origin, Date.now())
  reportProgress(worker)
  return answer
}

async function findLastClicks(
  worker: WorkerState,
  query: LastClicksQuery,
  through: SpoolPosition,
): Promise<(LastClick | null)[]> {
  const { engine } = worker
  const isReached = () => engine.isUp() && !isBefore(worker.answered.position, through)
  if (engine.isUp() && !isReached()) {
    await ship(worker).catch((error) => {
      throw unavailable(error, 1)
    })
    await Promise.race([engine.settled(), Bun.sleep(CATCH_UP_MS)])
    reportProgress(worker)
  }
  if (!isReached()) throw unavailable('The hit engine has not caught up', 1)
  return engine.use((open) => open.findLastClicks(query))
}

async function exportHits(
  { engine, runningExports }: WorkerState,
  id: number,
  request: HitExport,
): Promise<ExportedFile> {
  const cancellation = new AbortController()
  runningExports.set(id, cancellation)
  try {
    return await engine.use((open) => open.export(request, cancellation.signal))
  } finally {
    runningExports.delete(id)
  }
}
