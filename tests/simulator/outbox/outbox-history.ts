// One history of the outbox: submissions come, nodes deliver them to receivers of all kinds, and things go wrong, in an order
// that follows from the seed. Afterwards time passes until nothing waits any more.

import type { Database as Sqlite } from 'bun:sqlite'
import type { Notice } from '../../../server/features/notify/channels/contract.ts'
import type {
  Deliverer,
  openDeliverer as OpenDeliverer,
} from '../../../server/features/notify/delivery/deliverer.ts'
import type { createClockFollower as CreateClockFollower } from '../../../server/features/notify/delivery/follow-clock.ts'
import type { pruneAttempts as PruneAttempts } from '../../../server/features/notify/delivery/prune-attempts.ts'
import type { enqueueDeliveries as EnqueueDeliveries } from '../../../server/features/notify/outbox/enqueue-deliveries.ts'
import type { setLogLevel as SetLogLevel } from '../../../server/lib/log.ts'
import type { Database } from '../../../server/storage/database/database.ts'
import type { Mutant } from '../../support/rollups/mutate-source.ts'
import { createGlobals, createProcess, type SimulatedProcess } from '../machine/process.ts'
import { loadProgram, type Surroundings } from '../machine/program.ts'
import { createWorld, type World } from '../machine/world.ts'
import type { HistoryResult } from '../replay.ts'
import {
  checkAttempt,
  checkOutbox,
  createRecords,
  type OutboxRecords,
  type RunningAttempt,
} from './check-outbox.ts'
import { RECEIVERS, receive, type SimulatedReceiver } from './receivers.ts'
import { createRows, type Rows } from './rows.ts'

interface NodeProgram {
  openDeliverer: typeof OpenDeliverer
  createClockFollower: typeof CreateClockFollower
  pruneAttempts: typeof PruneAttempts
  enqueueDeliveries: typeof EnqueueDeliveries
  setLogLevel: typeof SetLogLevel
}

export type OutboxProgram = (given: Surroundings) => Promise<NodeProgram>

export const loadOutboxProgram = (mutant?: Mutant): Promise<OutboxProgram> =>
  loadProgram<NodeProgram>({ entry: 'tests/simulator/outbox/node-program.ts', replacements: {}, mutant })

interface OutboxNode {
  process: SimulatedProcess
  program: NodeProgram
  db: Database
  deliverer?: Deliverer
}

interface History {
  world: World
  rows: Rows
  program: OutboxProgram
  receivers: SimulatedReceiver[]
  records: OutboxRecords
  nodes: OutboxNode[]
  /** Several nodes use PostgreSQL; one node uses SQLite. */
  nodesMax: number
  keepsLog: boolean
  isOver: boolean
}

const BUSY_MS = 15_000

export function runOutboxHistory(
  program: OutboxProgram,
  sqlite: Sqlite,
  seed: number,
  keepsLog = false,
): HistoryResult {
  const world = createWorld(seed, 'outbox', keepsLog)
  const nodesMax = world.pick([1, 2, 3])
  const rows = createRows(world, sqlite, nodesMax === 1 ? 'sqlite' : 'postgres')
  const receivers = createReceivers(world, rows)
  const records = createRecords(world, rows, receivers)
  const history: History = {
    world,
    rows,
    program,
    receivers,
    records,
    nodes: [],
    nodesMax,
    keepsLog,
    isOver: false,
  }
  for (let n = 0; n < nodesMax; n++) startNode(history, world.random() * 50)
  planSubmissions(history)
  planTroubles(history)
  let violation: string | undefined
  try {
    world.runUntil(() => records.violation !== undefined, BUSY_MS)
    endTroubles(history)
    violation =
      records.violation ??
      passTime(history) ??
      records.violation ??
      checkOutbox(records) ??
      findUnpruned(history)
  } catch (error) {
    violation = `the simulation broke: ${error instanceof Error ? error.stack : error}`
  }
  return { seed, violation, fingerprint: world.fingerprint(), log: world.log }
}

function createReceivers(world: World, rows: Rows): SimulatedReceiver[] {
  return Array.from({ length: world.between(1, 5) }, (_, i) => {
    const type = world.pick(['webhook', 'slack'] as const)
    const at = world.wallClock()
    rows.ask(
      'insert into channels (workspace_id, type, name, created_at, updated_at) values (1, ?, ?, ?, ?)',
      type,
      String(i + 1),
      at,
      at,
    )
    const kind = world.pick(RECEIVERS)
    return {
      channelId: i + 1,
      type,
      kind,
      changesAt: world.pick([2_000, 200_000, 3 * 3_600_000, 60 * 3_600_000]),
    }
  })
}

/** Starts a node that delivers. It is started again when it was killed. */
function startNode(history: History, afterMs: number) {
  const { world } = history
  world.plan(afterMs, 'start', () => {
    const process = createProcess(world, `node ${world.between(100, 999)}`, () => {
      history.rows.disconnect(process)
      history.nodes = history.nodes.filter((other) => other.process !== process)
      history.records.noteEnd(process)
      startNode(history, world.pick([100, 2_000, 20_000]))
    })
    openNode(history, process).catch((error) => {
      world.note(`node did not start: ${error}`)
      process.kill('it could not start')
    })
  })
}

async function openNode(history: History, process: SimulatedProcess) {
  const { world, rows, nodes, keepsLog } = history
  const { sleep, ...globals } = createGlobals(process)
  const crypto = require('node:crypto')
  const randomBytes = (count: number) =>
    Buffer.from(Array.from({ length: count }, () => world.between(0, 255)))
  const program = await history.program({
    globals: { ...globals, Bun: { sleep } },
    modules: { crypto: { ...crypto, randomBytes } },
    platform: undefined,
  })
  program.setLogLevel(keepsLog ? 'info' : 'silent')
  const db = rows.connect(process)
  const node: OutboxNode = { process, program, db }
  nodes.push(node)
  const now = () => world.wallClock()
  const send = (_: unknown, to: { name: string }, notice: Notice) => deliver(history, process, to, notice)
  node.deliverer = await program.openDeliverer({
    db,
    now,
    senders: { webhook: send, slack: send },
    send: { allow: [], origin: 'https://go.example' },
    readSubmission: (_: number, submissionId: number) =>
      process.call('content', world.random() * 5, () => ({
        submissionId,
        fields: new Map(),
        total: undefined,
      })),
    readReply: async () => undefined,
    ownerEmails: async () => [],
    pollMs: world.pick([1_000, 6_000]),
    checkMs: 60_000,
  } as unknown as Parameters<typeof OpenDeliverer>[0])
  const followClock = program.createClockFollower({ db, now, clock: () => world.now() })
  const follow = () =>
    followClock()
      .catch((error) => world.note(`clock not followed: ${error}`))
      .then(() => process.after(5_000, 'follow clock', follow))
  follow()
}

/** An attempt at a receiver. */
function deliver(
  { world, receivers, records }: History,
  process: SimulatedProcess,
  to: { name: string },
  notice: Notice,
) {
  const receiver = receivers[Number(to.name) - 1] as SimulatedReceiver
  const { messageId, submissionId } = notice
  const attempt: RunningAttempt = {
    messageId,
    receiver,
    process,
    startedAt: records.trueTime(),
    isRunning: true,
  }
  checkAttempt(records, attempt)
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const { afterMs, arrives, result } = receive(world, receiver, submissionId, records.trueTime())
  // A message that was sent arrives, whatever becomes of its sender.
  if (arrives) world.plan(afterMs / 2, 'arrives', () => records.noteArrival(messageId))
  if (result)
    process.after(afterMs, 'answer', () => {
      records.noteAnswer(attempt, result)
      resolve(result)
    })
  return promise
}

function planSubmissions(history: History) {
  const { world, receivers } = history
  const burstAt = world.random() * 5_000
  const isLong = receivers.some(({ kind }) => kind === 'dead' || kind === 'down')
  for (let left = world.pick(isLong ? [1, 3] : [3, 10, 20]); left > 0; left--)
    world.plan(world.chance(0.5) ? burstAt : world.random() * 10_000, 'submit', () => void submit(history))
}

/** As the endpoint of forms does: the submission and its deliveries in one transaction. */
async function submit({ world, nodes, receivers, records }: History) {
  if (nodes.length === 0) return
  const { db, program, deliverer } = world.pick(nodes)
  const channelIds = receivers.filter(() => world.chance(0.7)).map(({ channelId }) => channelId)
  const at = world.wallClock()
  const number = records.nextSubmission()
  try {
    await db.write(async (connection) => {
      const { id } = await connection
        .insertInto('submissions')
        .values({
          workspace_id: 1,
          form_id: 1,
          fields: '[]',
          search_text: String(number),
          fingerprint: '',
          created_at: at,
        } as never)
        .returning('id')
        .executeTakeFirstOrThrow()
      const count = await program.enqueueDeliveries(connection, db.engine, {
        workspaceId: 1,
        submissionId: id as number,
        channelIds,
        at,
      })
      records.noteSubmission(number, count)
    })
    records.noteAcknowledged(number)
    deliverer?.wake()
  } catch (error) {
    records.noteRefused(number, error)
  }
}

const TROUBLES: Record<string, (history: History) => void> = {
  kill: ({ world, nodes }) => {
    if (nodes.length > 0) world.pick(nodes).process.kill('killed')
  },
  killAtCall: ({ world, nodes }) => {
    if (nodes.length > 0) world.pick(nodes).process.callsLeft = world.between(1, 30)
  },
  loseDatabase: ({ world, rows, records }) => {
    rows.awayUntil = world.now() + world.pick([20, 500, 5_000])
    records.noteTrouble('database')
  },
  loseAnswers: ({ rows, records }) => {
    rows.lostAnswers = 0.2
    records.noteTrouble('database')
  },
  jumpForward: ({ world, records }) => {
    world.jumpClock(world.pick([5_000, 90_000, 7_200_000]))
    records.noteTrouble('clock')
  },
  jumpBack: ({ world, records }) => {
    world.jumpClock(-world.pick([5_000, 90_000, 7_200_000]))
    records.noteTrouble('clockBack')
  },
}

function planTroubles(history: History) {
  const { world } = history
  const kinds = [world.pick(Object.keys(TROUBLES)), world.pick(Object.keys(TROUBLES))]
  for (let left = world.between(0, 5); left > 0; left--) {
    const name = world.pick(kinds)
    world.plan(world.random() * BUSY_MS, name, () => {
      if (history.isOver) return
      world.note(`trouble: ${name}`)
      TROUBLES[name]?.(history)
    })
  }
}

function endTroubles(history: History) {
  const { rows, nodes } = history
  Object.assign(rows, { awayUntil: 0, lostAnswers: 0 })
  for (const { process } of nodes) process.callsLeft = Number.POSITIVE_INFINITY
  history.isOver = true
}

const ROUNDS_MAX = 400

/** Lets the days of the retry schedule pass: where nothing happens, the clock goes on to what is due next. */
function passTime(history: History): string | undefined {
  const { world, rows, records } = history
  const count = (condition: string) =>
    rows.ask<{ n: number }>(
      `select count(*) as n from deliveries d join channels c on c.id = d.channel_id
       where d.status = 'waiting' and c.enabled = 1 and ${condition}`,
    )[0]?.n ?? 0
  let nextLook = 0
  const isQuiet = () => {
    // A look takes as long as a step.
    if (world.now() < nextLook) return false
    nextLook = world.now() + 250
    if (rows.isBusy() || records.listRunning().length > 0) return false
    return count(`(d.due_at <= ${world.wallClock()} or d.leased_until > 0)`) === 0
  }
  for (let round = 0; round < ROUNDS_MAX; round++) {
    world.runUntil(() => records.violation !== undefined || isQuiet(), world.now() + 1_500)
    if (records.violation !== undefined) return records.violation
    if (rows.isBusy()) continue
    if (count('1') === 0) return undefined
    // Leases are held, or their nodes are gone: that takes the time that it takes.
    if (records.listRunning().length > 0 || count('d.leased_until is not null') > 0) continue
    const [next] = rows.ask<{ at: number | null }>(
      `select min(d.due_at) as at from deliveries d join channels c on c.id = d.channel_id
       where d.status = 'waiting' and c.enabled = 1`,
    )
    const aheadMs = (next?.at ?? 0) - world.wallClock()
    // Due deliveries wait for their receiver, which is tried every five minutes.
    const waitMs = aheadMs > 0 ? aheadMs + 1 : 300_000
    world.note(`time passes: ${waitMs} ms`)
    world.jumpClock(waitMs)
    records.passTime(waitMs)
    for (const { deliverer } of history.nodes) deliverer?.wake()
  }
  return `deliveries still wait: ${JSON.stringify(rows.ask("select * from deliveries where status = 'waiting' limit 3"))}`
}

const MONTH_MS = 31 * 24 * 3_600_000
/** The deliverer looks for interrupted attempts this often. */
const POLL_MS = 1_000

/**
 * Attempts are kept for 30 days. The second run of the job deletes an attempt that was interrupted before the jump of the clock
 * and is recorded after it.
 */
function findUnpruned({ world, rows, nodes }: History): string | undefined {
  const [node] = nodes
  if (!node) return undefined
  world.jumpClock(MONTH_MS)
  for (let run = 0; run < 2; run++) {
    let isPruned = false
    const pruning = node.program.pruneAttempts(node.db, world.wallClock())
    pruning
      .catch((error) => world.note(`attempts are not pruned: ${error}`))
      .then(() => {
        isPruned = true
      })
    const start = world.now()
    world.runUntil(() => isPruned && world.now() > start + POLL_MS, start + 10_000)
  }
  return rows.ask('select id from delivery_attempts').length === 0
    ? undefined
    : 'attempts are kept for more than 30 days'
}
