// A simulated installation: a server with its spool, and its hit worker, both running the code of the product. Either can
// be killed, and the power can be cut.

import type { recordHit as RecordHit } from '../../../server/features/hits/record.ts'
import type { openSpool as OpenSpool, Spool } from '../../../server/features/hits/spool/spool.ts'
import type {
  HitWorkerClient,
  openHitWorkerClient as OpenHitWorkerClient,
} from '../../../server/features/hits/worker/client.ts'
import type {
  MessageFromWorker,
  MessageToWorker,
  WorkerSettings,
} from '../../../server/features/hits/worker/protocol.ts'
import type { setLogLevel as SetLogLevel } from '../../../server/lib/log.ts'
import type { Mutant } from '../../support/rollups/mutate-source.ts'
import { createDisk, type Disk } from '../machine/disk.ts'
import { createFileCalls } from '../machine/file-calls.ts'
import { createGlobals, createProcess, type SimulatedProcess } from '../machine/process.ts'
import { loadProgram, type Surroundings } from '../machine/program.ts'
import type { World } from '../machine/world.ts'
import { createClickRows, createStores, type HitStores, openSimulatedEngine } from './stores.ts'

interface ServerProgram {
  openSpool: typeof OpenSpool
  openHitWorkerClient: typeof OpenHitWorkerClient
  recordHit: typeof RecordHit
  setLogLevel: typeof SetLogLevel
}

export interface HitPrograms {
  server(given: Surroundings): Promise<ServerProgram>
  worker(given: Surroundings): Promise<unknown>
}

const WORKER = 'server/features/hits/worker'

/** Stands in for the processes, the lock of the directory, the engine, and the country database. */
const REPLACEMENTS = {
  [`${WORKER}/ipc.ts`]: 'export const { startWorkerProcess, connectToServer } = platform',
  'server/lib/child-process.ts': 'export const lowerPriority = () => {}',
  [`${WORKER}/open-engine.ts`]: 'export const { openEngine, toEngineBackupPath } = platform',
  'server/features/hits/batches/open-geo-lookup.ts': `
    const nowhere = { country: null, region: null, city: null, continent: null }
    export const openGeoLookup = () => ({ findPlace: () => nowhere })`,
  'server/storage/lock.ts': 'export const { lockForWorker } = platform',
  'server/http/telemetry/open-tracing.ts': 'export const openTracing = async () => undefined',
}

export async function loadHitPrograms(mutant?: Mutant): Promise<HitPrograms> {
  const load = <T>(entry: string) => loadProgram<T>({ entry, replacements: REPLACEMENTS, mutant })
  return {
    server: await load<ServerProgram>('tests/simulator/hits/server-program.ts'),
    worker: await load(`${WORKER}/main.ts`),
  }
}

export interface InstallationOptions {
  segmentBytes: number
  maxHits: number
  idleMs: number
  /** Batches are compressed, as for ClickHouse. */
  isCompressed: boolean
  /** How many batches may lie there before the oldest are pruned. */
  batchFiles: number
  logs: boolean
}

interface RunningServer {
  process: SimulatedProcess
  program?: ServerProgram
  spool?: Spool
  client?: HitWorkerClient
}

export interface SimulatedInstallation {
  readonly disk: Disk
  readonly stores: HitStores
  readonly options: InstallationOptions
  server: RunningServer | undefined
  /** At most one but for the worker of a server that was killed, which ends a moment later. */
  workers: SimulatedProcess[]
  /** Called when the server ends. Hits that waited in its memory are lost then. */
  onServerEnd(spool: Spool | undefined): void
}

const DATA_DIR = '/data'
export const SPOOL_DIR = `${DATA_DIR}/spool`
export const SYNC_EVERY_MS = 100

export function createSimulatedInstallation(
  world: World,
  options: InstallationOptions,
  onServerEnd: SimulatedInstallation['onServerEnd'],
): SimulatedInstallation {
  const disk = createDisk(world)
  disk.create(DATA_DIR, 'directory')
  disk.beginSync(disk.root)()
  return { disk, stores: createStores(), options, server: undefined, workers: [], onServerEnd }
}

/** The platform of a simulated process. */
function surround(process: SimulatedProcess, disk: Disk, platform: unknown): Surroundings {
  const { fs, promises, mmap } = createFileCalls(disk, process)
  const { sleep, ...globals } = createGlobals(process)
  const crypto = require('node:crypto')
  const randomBytes = (count: number) =>
    Buffer.from(Array.from({ length: count }, () => process.world.between(0, 255)))
  return {
    globals: { ...globals, Bun: { mmap, sleep, gc() {}, shrink() {}, SHA256: Bun.SHA256 } },
    modules: {
      fs,
      'fs/promises': promises,
      crypto: { ...crypto, randomBytes },
      'timers/promises': { setImmediate: () => (sleep as (ms: number) => Promise<void>)(0) },
    },
    platform,
  }
}

/** Starts the server. It takes hits once its spool is open. */
export async function startSimulatedServer(
  world: World,
  place: SimulatedInstallation,
  programs: HitPrograms,
): Promise<void> {
  const { disk, stores, options } = place
  const process = createProcess(world, 'server', () => {
    if (place.server === server) place.server = undefined
    place.onServerEnd(server.spool)
    // The worker ends with its connection.
    for (const worker of place.workers)
      world.plan(world.random() * 300, 'disconnect', () => worker.kill('its server is gone'))
  })
  const server: RunningServer = { process }
  place.server = server
  const startWorkerProcess = (settings: WorkerSettings, listener: WorkerListener) =>
    startWorker(world, place, programs, { server: process, settings, listener })
  const program = await programs.server(surround(process, disk, { startWorkerProcess }))
  program.setLogLevel(options.logs ? 'info' : 'silent')
  const spool = await program.openSpool({
    dir: SPOOL_DIR,
    segmentBytes: options.segmentBytes,
    syncEveryMs: SYNC_EVERY_MS,
  })
  const rows = createClickRows(stores, process)
  const countedUpTo = await process.call('read mark', world.random() * 5, () => rows.getMark(spool.node))
  const client = program.openHitWorkerClient({
    dataDir: DATA_DIR,
    spool,
    salts: [],
    ownHosts: [],
    clickHouseUrls: options.isCompressed ? ['http://replica'] : undefined,
    countedUpTo,
    storeCounts: rows.storeCounts,
    maxHits: options.maxHits,
    idleMs: options.idleMs,
    pruneEveryMs: 3_000,
    batchRetention: { ageMs: 60_000, bytes: 2 ** 30, files: options.batchFiles },
    batchBytesMax: 2 ** 30,
  })
  Object.assign(server, { program, spool, client })
  world.note('server is ready')
}

interface WorkerListener {
  onMessage(message: MessageFromWorker): void
  onExit(reason: Error): void
}

function startWorker(
  world: World,
  place: SimulatedInstallation,
  programs: HitPrograms,
  {
    server,
    settings,
    listener,
  }: { server: SimulatedProcess; settings: WorkerSettings; listener: WorkerListener },
) {
  const worker = createProcess(world, 'worker', (reason) => {
    place.workers = place.workers.filter((other) => other !== worker)
    server.after(world.random() * 20, 'worker has ended', () => listener.onExit(new Error(reason)))
  })
  place.workers.push(worker)
  const toServer = createChannel(server, listener.onMessage)
  let handle: ((message: MessageToWorker) => void) | undefined
  const early: MessageToWorker[] = []
  const toWorker = createChannel<MessageToWorker>(worker, (message) =>
    handle ? handle(message) : void early.push(message),
  )
  const platform = {
    connectToServer: () =>
      worker.call('connect', world.random() * 100, () => ({
        settings: structuredClone(settings),
        send: (message: MessageFromWorker) => worker.alive && toServer(message),
        onMessage(listen: (message: MessageToWorker) => void) {
          handle = listen
          for (const message of early.splice(0)) listen(message)
        },
      })),
    async lockForWorker() {
      while (place.workers[0] !== worker) await worker.call('lock', 20, () => {})
    },
    openEngine: () => openSimulatedEngine(place.stores, place.disk, worker),
    toEngineBackupPath: () => `${DATA_DIR}/hits.backup`,
  }
  programs.worker(surround(worker, place.disk, platform)).catch((error) => {
    world.note(`worker did not start: ${error}`)
    worker.kill('it could not start')
  })
  return {
    post: (message: MessageToWorker) => server.alive && toWorker(message),
    kill: () => worker.kill('told to end'),
  }
}

/** Messages arrive in order. */
function createChannel<Message>(
  to: SimulatedProcess,
  deliver: (message: Message) => void,
): (message: Message) => void {
  const { world } = to
  let last = 0
  return (message) => {
    const copy = structuredClone(message)
    last = Math.max(last + 1e-6, world.now() + world.random() * 3)
    to.after(last - world.now(), 'message', () => deliver(copy))
  }
}

/** Ends all processes at once. @param losesPower else the kernel goes on */
export function crash({ disk, server, workers }: SimulatedInstallation, losesPower: boolean): void {
  const reason = losesPower ? 'the power is cut' : 'killed'
  if (losesPower) for (const worker of workers) worker.kill(reason)
  server?.process.kill(reason)
  if (losesPower) disk.cutPower()
}
