// Measures where the processor time of a submission goes: bun bench/form-stages.ts [plain|everything] [<another checkout>]
// [--seconds=4] [--workspaces=40]. The runtime samples the server's main thread under full load. A sample counts for the
// nearest function of its stack whose file belongs to a stage. With another checkout, its stages stand beside these.

import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FormKind, readKinds, startForms } from './forms-servers.ts'
import {
  finish,
  HOME,
  listVersions,
  note,
  readOptions,
  readThreadsUs,
  toTable,
  type Version,
} from './harness.ts'

const { words, ...options } = readOptions({ seconds: 4, workspaces: 40 })
const { kinds, rest } = readKinds(words)

/** The files of a stage. The first stage that matches counts. */
const STAGES: [string, RegExp][] = [
  ['head and relay', /http\/fast-path\/|web\/listen|http\/request-path/],
  ['routes, headers and metrics', /web\/|host-gate|answer-headers|request-host|telemetry\/|route-table/],
  ['body and fields', /endpoint\/(?:read-body|body-|fields|multipart)|http\/json-body/],
  ['settings of the form', /forms\/settings\/|sender-language/],
  ['limits and budgets', /rate-limiter|sliding-|byte-budgets|storage-limits|accounts\/(?:access|abuse)\//],
  ['rules', /forms\/rules\/|consent\//],
  ['judge of spam', /forms\/spam\//],
  ['sender, visit and click', /attribution\/|visitors\/|geo|user-agent|client-address/],
  ['deliveries', /notify\/outbox|notify\/timing|announce-submission|leads\//],
  ['reply', /forms\/replies\//],
  ['texts and fingerprint of the row', /store-submission|find-duplicate/],
  ['statements', /storage\/database\/|kysely/],
  ['answer and counts', /features\/forms\/|request-id/],
  ['sending of deliveries', /notify\/|http\/mail|safe-request|connection-pool|nodemailer/],
]
const LATER = 'other work of the server'
const MAIN = 'main thread'

interface ProfileNode {
  id: number
  callFrame: { url: string }
  children?: number[]
}
interface CpuProfile {
  nodes: ProfileNode[]
  samples: number[]
  /** Microseconds since the epoch. */
  startTime: number
  /** Microseconds since the sample before. */
  timeDeltas: number[]
}

/** @returns the share of each stage in the samples between two moments */
function readShares(path: string, fromMs: number, untilMs: number): Map<string, number> {
  const profile = JSON.parse(readFileSync(path, 'utf8')) as CpuProfile
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  const stages = new Map<number, string>()
  const visit = (node: ProfileNode, above: string) => {
    const file = node.callFrame.url.replace(/^.*\/(?:server|node_modules)\//, '')
    const stage = STAGES.find(([, files]) => files.test(file))?.[0] ?? above
    stages.set(node.id, stage)
    for (const child of node.children ?? []) visit(nodes.get(child) as ProfileNode, stage)
  }
  const isChild = new Set(profile.nodes.flatMap(({ children = [] }) => children))
  for (const node of profile.nodes) if (!isChild.has(node.id)) visit(node, LATER)
  let at = profile.startTime
  const found = profile.samples
    .filter((_, n) => {
      at += profile.timeDeltas[n] as number
      return at >= fromMs * 1000 && at <= untilMs * 1000
    })
    .map((id) => stages.get(id) ?? LATER)
  return new Map(
    [...new Set(found)].map((stage) => [stage, found.filter((each) => each === stage).length / found.length]),
  )
}

/** @returns microseconds a submission, by stage and thread */
async function measure(version: Version, kind: FormKind): Promise<Map<string, number>> {
  const dir = mkdtempSync(join(HOME, 'profile-'))
  const runtime = ['--cpu-prof', `--cpu-prof-dir=${dir}`, '--cpu-prof-interval=250']
  const server = await startForms(
    { ...version, dataDir: join(dir, 'data') },
    { kinds: [kind], workspaces: options.workspaces, runtime },
  )
  await server.send(kind, 2)
  const before = readThreadsUs(server.pid)
  const from = Date.now()
  const { perSecond } = await server.send(kind, options.seconds)
  const until = Date.now()
  const threads = readThreadsUs(server.pid)
  for (const [name, us] of threads)
    threads.set(name, (us - (before.get(name) ?? 0)) / (perSecond * options.seconds))
  // The runtime writes the profile when the server ends.
  await server.end()
  note(`${version.name}, ${kind}: ${Math.round(perSecond)} submissions a second`)
  const file = readdirSync(dir).find((name) => name.endsWith('.cpuprofile')) as string
  const mainUs = threads.get(MAIN) as number
  const shares = readShares(join(dir, file), from, until)
  return new Map([
    ...[...shares].map(([stage, share]): [string, number] => [stage, share * mainUs]),
    ...threads,
  ])
}

const columns: { title: string; us: Map<string, number> }[] = []
for (const version of listVersions(rest))
  for (const kind of kinds)
    columns.push({ title: `${version.name}, ${kind}`, us: await measure(version, kind) })
const stages = [...STAGES.map(([stage]) => stage), LATER]
const threads = [...new Set(columns.flatMap(({ us }) => [...us.keys()]))].filter(
  (name) => !stages.includes(name),
)
finish(
  toTable(
    ['µs of processor time of a submission', ...columns.map(({ title }) => title)],
    [...stages, ...threads]
      .map((name) => [name, ...columns.map(({ us }) => (us.get(name) ?? 0).toFixed(1))])
      .filter(([, ...cells]) => cells.some((cell) => Number(cell) >= 0.5)),
  ),
)
