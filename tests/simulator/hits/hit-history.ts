// One history of the hit pipeline: visitors click, and things go wrong, in an order that follows from the seed. Afterwards
// everything works again, and the hits of the engine are compared with the answers that visitors got.

import {
  WAITING_HITS,
  WRITE_OFFSET,
  WRITE_SEGMENT,
} from '../../../server/features/hits/spool/write-position.ts'
import { createWorld, type World } from '../machine/world.ts'
import type { HistoryResult } from '../replay.ts'
import { type ClickAnswered, checkHits, toCampaign, VISITOR_ADDRESS } from './check-hits.ts'
import {
  crash,
  createSimulatedInstallation,
  type HitPrograms,
  type SimulatedInstallation,
  SPOOL_DIR,
  SYNC_EVERY_MS,
  startSimulatedServer,
} from './installation.ts'
import { damageEngine } from './stores.ts'

/** Faults that the simulator injects, to see whether the checks find them. */
export type HitFault = 'forgetsSyncs' | 'forgetsMarks'

interface History {
  world: World
  place: SimulatedInstallation
  programs: HitPrograms
  clicks: ClickAnswered[]
  /** The server is told to stop. */
  stopping: boolean
  /** Nothing goes wrong any more. */
  isOver: boolean
  /** The id of the last hit: ids and segments only rise, whatever happens. */
  lastId: number
  backwards: string | undefined
}

const RECOVERED_WITHIN_MS = 300_000

export function runHitHistory(
  programs: HitPrograms,
  seed: number,
  keepsLog = false,
  fault?: HitFault,
): HistoryResult {
  const world = createWorld(seed, 'hit pipeline', keepsLog)
  const clicks: ClickAnswered[] = []
  const options = {
    segmentBytes: world.pick([12_288, 16_384, 32_768]),
    maxHits: world.pick([3, 10, 1000]),
    idleMs: world.pick([1500, 30_000]),
    isCompressed: world.chance(0.25),
    batchFiles: world.pick([4, 10, 1000]),
    logs: keepsLog,
  }
  const place = createSimulatedInstallation(world, options, (spool) => {
    loseWaiting(clicks, spool?.stats().waiting ?? 0)
    // The next server syncs what a killed one has left, at its start.
    for (const click of listUnsynced(place, clicks)) click.isUnsynced = true
  })
  if (fault === 'forgetsSyncs') place.disk.trouble.forgetsSyncs = true
  if (fault === 'forgetsMarks') place.stores.forgetsMarks = true
  const history: History = {
    world,
    place,
    programs,
    clicks,
    stopping: false,
    isOver: false,
    lastId: 0,
    backwards: undefined,
  }

  const durationMs = world.pick([2_000, 6_000, 15_000])
  planClicks(history, durationMs)
  planTroubles(history, durationMs)
  start(history)
  const violation = findViolation(history, durationMs)
  return { seed, violation, fingerprint: world.fingerprint(), log: world.log }
}

function findViolation(history: History, durationMs: number): string | undefined {
  const { world, place, clicks } = history
  const latest = durationMs + RECOVERED_WITHIN_MS
  try {
    world.runUntil(() => history.backwards !== undefined, durationMs)
    endTroubles(history)
    const hasRecovered = world.runUntil(() => isSettled(history), latest)
    // The worker erases what it has shipped after its last report.
    world.runUntil(() => false, world.now() + 3_000)
    return history.backwards ?? (hasRecovered ? checkHits(place, clicks) : describeBacklog(place))
  } catch (error) {
    return `the simulation broke: ${error instanceof Error ? error.stack : error}`
  }
}

function start({ world, place, programs, clicks }: History) {
  if (place.server) return
  const isSyncing = place.disk.trouble.failingSyncs === 0
  const started = startSimulatedServer(world, place, programs).then(() => {
    if (isSyncing) for (const click of clicks) click.isUnsynced = false
  })
  started.catch((error) => {
    world.note(`server did not start: ${error}`)
    // The operator starts it again.
    place.server?.process.kill('it could not start')
  })
}

/** A server that was killed is started again a moment later. */
function startLater(history: History) {
  const { world } = history
  const again = () => {
    if (history.stopping) return
    start(history)
    if (!history.isOver) world.plan(1_000, 'is it up', again)
  }
  world.plan(world.pick([1, 200, 1500]), 'start', again)
}

function planClicks(history: History, durationMs: number) {
  const { world } = history
  const count = world.pick([5, 40, 150])
  const burstAt = world.random() * durationMs
  for (let serial = 1; serial <= count; serial++) {
    const at = world.chance(0.5) ? world.random() * durationMs : burstAt + world.random() * 300
    world.plan(at, 'click', () => click(history, serial))
  }
}

function click(history: History, serial: number): ClickAnswered | undefined {
  const { world, place } = history
  const { process, spool, program } = place.server ?? {}
  if (!process?.alive || !spool || !program || history.stopping) return undefined
  const answered: ClickAnswered = {
    serial,
    linkId: (serial % 3) + 1,
    at: world.now(),
    isOptional: true,
    hasWaited: false,
    isUnsynced: false,
  }
  history.clicks.push(answered)
  const id = program.recordHit(
    spool,
    {
      at: world.wallClock(),
      method: 'GET',
      headers: new Headers({
        'User-Agent': USER_AGENT,
        Referer: 'https://example.com/'.padEnd(20 + (serial % 5) * 200, 'x'),
      }),
      address: VISITOR_ADDRESS,
      query: `utm_campaign=${toCampaign(serial)}`,
    },
    {
      outcome: 'redirect',
      workspaceId: serial,
      linkId: answered.linkId,
      marks: { internal: false, ignored: false },
    },
  )
  // A server that was killed in the middle has not answered.
  answered.isOptional = !process.alive
  answered.hasWaited = id === 0
  noteStored(history)
  if (id !== 0 && id <= history.lastId) history.backwards = `hit ${id} follows hit ${history.lastId}`
  history.lastId = Math.max(history.lastId, id)
  world.note(`click ${serial} ${id}`)
  return answered
}

const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

type Trouble = (history: History) => void

const TROUBLES: Record<string, Trouble> = {
  killServer,
  killServerInAppend(history) {
    tearAppend(history)
    killServer(history)
  },
  killServerAtCall: ({ world, place }) => {
    if (place.server) place.server.process.callsLeft = world.between(1, 40)
  },
  killWorker: ({ place }) => place.workers[0]?.kill('killed'),
  killWorkerAtCall: ({ world, place }) => {
    if (place.workers[0]) place.workers[0].callsLeft = world.between(1, 60)
  },
  cutPower,
  killServerBeforePowerCut,
  restart(history) {
    void stop(history)
  },
  breakEngine: ({ world, place }) => {
    place.stores.engineAwayUntil = world.now() + world.pick([10, 500, 4_000])
  },
  damageEngine: ({ place }) => {
    if (!place.options.isCompressed) damageEngine(place.stores)
  },
  loseRows: ({ world, place }) => {
    place.stores.rowsAwayUntil = world.now() + world.pick([10, 500, 4_000])
  },
  fillDisk: (history) => troubleDisk(history, { full: true }, { full: false }),
  slowDisk: (history) => troubleDisk(history, { slowMs: history.world.pick([30, 400]) }, { slowMs: 0 }),
  failSyncs: (history) =>
    troubleDisk(history, { failingSyncs: history.world.pick([0.2, 0.8]) }, { failingSyncs: 0 }),
  writeBack: ({ place }) => place.disk.writeBack(),
  jumpClock: ({ world }) => world.jumpClock(world.pick([-7_200_000, -30_000, 30_000, 7_200_000])),
}

function planTroubles(history: History, durationMs: number) {
  const { world } = history
  const names = Object.keys(TROUBLES)
  // Few kinds in a history, so that each meets itself.
  const kinds = Array.from({ length: world.between(1, 4) }, () => world.pick(names))
  for (let left = world.between(0, 7); left > 0; left--) {
    const name = world.pick(kinds)
    world.plan(world.random() * durationMs, name, () => {
      if (history.isOver) return
      world.note(`trouble: ${name}`)
      TROUBLES[name]?.(history)
      if (!history.place.server) startLater(history)
    })
  }
  // A server that is killed at a call is missed by nobody else.
  const look = () => {
    if (!history.place.server && !history.stopping) start(history)
    if (!history.isOver) world.plan(2_000, 'look', look)
  }
  world.plan(2_000, 'look', look)
}

function troubleDisk({ world, place: { disk } }: History, begin: object, end: object) {
  Object.assign(disk.trouble, begin)
  world.plan(world.pick([50, 1_000, 4_000]), 'disk is well', () => Object.assign(disk.trouble, end))
}

function killServer(history: History) {
  crash(history.place, false)
}

/** The next server has what the killed one left in the kernel's memory, and hardly time to ship it. */
function killServerBeforePowerCut(history: History) {
  const { world, place } = history
  killServer(history)
  const cutOnceReady = () => {
    if (history.isOver) return
    if (!place.server?.spool) world.plan(20, 'waits for the next server', cutOnceReady)
    else
      world.plan(world.random() * 100, 'power cut after a kill', () => {
        if (history.isOver) return
        cutPower(history)
        startLater(history)
      })
  }
  cutOnceReady()
}

/** Notes when hits that waited in memory were stored: now at the latest. Those that still wait are the last that have waited. */
function noteStored({ place, clicks, world }: History) {
  const waiting = place.server?.spool?.stats().waiting ?? 0
  const waited = clicks.filter(({ hasWaited }) => hasWaited)
  for (const click of waited.slice(0, waited.length - waiting)) {
    click.hasWaited = false
    click.at = world.now()
  }
}

/** Those that wait in memory are the last that have waited. */
function loseWaiting(clicks: readonly ClickAnswered[], count: number) {
  if (count === 0) return
  for (const click of clicks.filter(({ hasWaited }) => hasWaited).slice(-count)) click.isOptional = true
}

/** The allowed loss: the hits since the last interval of the sync. */
function cutPower(history: History) {
  const { place, clicks } = history
  noteStored(history)
  for (const click of clicks) if (click.isUnsynced) click.isOptional = true
  for (const click of listUnsynced(place, clicks)) click.isOptional = true
  crash(place, true)
}

function listUnsynced({ disk }: SimulatedInstallation, clicks: readonly ClickAnswered[]): ClickAnswered[] {
  const synced = disk.syncedBefore(SYNC_EVERY_MS)
  return clicks.filter(({ at }) => at >= synced)
}

/** The server is killed while it stores a hit: a part of the record is there, and its length is not, or the position is old. */
function tearAppend(history: History) {
  const { world, place, clicks } = history
  const { writePosition } = place.server?.spool ?? {}
  if (!writePosition) return
  const [seq = 0, offset = 0] = [writePosition[WRITE_SEGMENT], writePosition[WRITE_OFFSET]]
  const cache = place.disk.find(`${SPOOL_DIR}/${String(seq).padStart(10, '0')}.seg`)?.cache
  const before = cache?.slice()
  const torn = click(history, 10_000 + clicks.length)
  if (!torn) return
  torn.isOptional = true
  const end = writePosition[WRITE_OFFSET] ?? 0
  if (!cache || !before || writePosition[WRITE_SEGMENT] !== seq || torn.hasWaited) return
  writePosition[WRITE_OFFSET] = offset
  if (world.chance(0.25)) return
  const cut = world.between(offset + 4, end)
  cache.set(before.subarray(cut, end), cut)
  cache.set(before.subarray(offset, offset + 4), offset)
}

/** As a server stops that is told to: the worker first, then the spool. */
async function stop(history: History) {
  const { place, world } = history
  const { client, spool, process } = place.server ?? {}
  if (!client || !spool || history.stopping) return
  history.stopping = true
  // It may be killed while it stops.
  world.plan(40_000, 'has stopped', () => ended())
  const ended = () => {
    if (!history.stopping) return
    history.stopping = false
    process?.kill('stopped')
    startLater(history)
  }
  await client.close()
  await spool.close()
  ended()
}

function endTroubles(history: History) {
  const { place } = history
  history.isOver = true
  Object.assign(place.disk.trouble, { full: false, slowMs: 0, failingSyncs: 0 })
  Object.assign(place.stores, { engineAwayUntil: 0, rowsAwayUntil: 0 })
  if (place.server) place.server.process.callsLeft = Number.POSITIVE_INFINITY
  for (const worker of place.workers) worker.callsLeft = Number.POSITIVE_INFINITY
  // A worker that sleeps, or has its file open, does not look at the file.
  if (place.stores.isDamaged) crash(place, false)
  if (!place.server) startLater(history)
}

/** Whether every hit that was recorded is in the engine and in the counters. */
function isSettled({ place: { server, stores }, stopping }: History): boolean {
  const { spool, client } = server ?? {}
  if (!spool || !client || stopping) return false
  const { position, batch, counted } = client.state()
  const { writePosition, node } = spool
  return (
    position.seq === writePosition[WRITE_SEGMENT] &&
    position.offset === writePosition[WRITE_OFFSET] &&
    writePosition[WAITING_HITS] === 0 &&
    (stores.engine.marks.get(node) ?? 0) >= batch &&
    counted >= batch
  )
}

function describeBacklog({ server, stores }: SimulatedInstallation): string {
  const { position, batch, counted } = server?.client?.state() ?? {}
  const marks = JSON.stringify([...stores.engine.marks])
  return `not recovered: server ${server ? 'up' : 'away'}, ${JSON.stringify({ position, batch, counted, marks })}`
}
