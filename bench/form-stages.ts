// Measures where the processor time of a submission goes: bun bench/form-stages.ts [plain|everything] [<another checkout>]
// [--seconds=4] [--workspaces=40]. The runtime samples the server's main thread under full load; a sample counts for the
// nearest function of the stack whose file belongs to a stage. With another checkout, its stages stand beside these.

import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FormKind, isFormKind, startForms } from './forms-servers.ts'
import { note, print, readOptions, toTable } from './harness.ts'
import { HOME, listVersions } from './servers.ts'

const { words, ...options } = readOptions({ seconds: 4, workspaces: 40 })
const kinds: FormKind[] = words.some(isFormKind) ? words.filter(isFormKind) : ['plain', 'everything']

/** The files of a stage, or functions of them (`file.ts#name`). The first stage that matches counts. */
const STAGES: [string, RegExp][] = [
  ['head and relay', /http\/fast-path\/|web\/listen|http\/request-path/],
  [
    'hosts, headers and metrics of a request',
    /host-gate|answer-headers|request-host|telemetry\/|request-context|web\/routes/,
  ],
  ['body and fields', /endpoint\/(?:read-body|fields|body-entry|multipart)|http\/json-body|json-limits/],
  ['form settings', /form-settings|spam-settings|sender-language|allowed-origins/],
  ['limits and budgets', /rate-limiter|byte-budgets|storage-limits|access\/|abuse\//],
  ['rules', /forms\/rules\/|consent\//],
  ['judge of spam', /forms\/spam\//],
  ['sender, visit and click', /attribution\/|visitors\/|geo|salts/],
  ['reply', /forms\/replies\/|enqueue-reply/],
  ['deliveries', /notify\/outbox|notify\/timing|announce-submission|leads\//],
  ['texts and fingerprint of a row', /store-submission/],
  ['statements', /sqlite-kysely|prepare-query|kysely/],
  ['queue and commit', /group-commit|commit-|record-change|sqlite-log|log-sync/],
  ['answer and counts', /endpoint\/|forms\/public|attempts\/|request-id|ordered-json/],
  ['sending of deliveries', /notify\/|http\/mail|safe-request|connection-pool|nodemailer/],
]
const LATER = 'other work of the server'

interface ProfileNode {
  id: number
  callFrame: { functionName: string; url: string }
  children?: number[]
}
interface CpuProfile {
  nodes: ProfileNode[]
  samples: number[]
  /** Microseconds: since the epoch, and since the sample before. */
  startTime: number
  timeDeltas: number[]
}

/** @returns the samples of each stage between two moments. A thread that waits is not sampled. */
function countSamples(path: string, fromMs: number, untilMs: number): Map<string, number> {
  const profile = JSON.parse(readFileSync(path, 'utf8')) as CpuProfile
  const stages = new Map<number, string>()
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  const visit = (node: ProfileNode, above: string) => {
    const { url, functionName } = node.callFrame
    const file = url.includes('/node_modules/')
      ? url.slice(url.lastIndexOf('/node_modules/'))
      : url.replace(/^.*\/server\//, '')
    const own = STAGES.find(([, files]) => files.test(`${file}#${functionName}`))?.[0]
    stages.set(node.id, own ?? above)
    for (const child of node.children ?? []) visit(nodes.get(child) as ProfileNode, own ?? above)
  }
  const isChild = new Set(profile.nodes.flatMap(({ children = [] }) => children))
  for (const node of profile.nodes) if (!isChild.has(node.id)) visit(node, LATER)
  const counts = new Map<string, number>()
  let at = profile.startTime
  profile.samples.forEach((id, n) => {
    at += profile.timeDeltas[n] as number
    if (at < fromMs * 1000 || at > untilMs * 1000) return
    const stage = stages.get(id) ?? LATER
    counts.set(stage, (counts.get(stage) ?? 0) + 1)
  })
  return counts
}

/** Microseconds of processor time of each thread of a process, by the thread's name (proc(5), `/proc/pid/task/tid/stat`). */
function readThreads(pid: number): Map<string, number> {
  const sums = new Map<string, number>()
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const stat = readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8')
    const name = Number(task) === pid ? MAIN : stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
    const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14).map(Number) as [
      number,
      number,
    ]
    sums.set(name, (sums.get(name) ?? 0) + (user + system) * 10_000)
  }
  return sums
}
const MAIN = 'main thread'

/** @returns microseconds a submission, by stage and thread */
async function measure(version: ReturnType<typeof listVersions>[number], kind: FormKind) {
  const dir = mkdtempSync(join(HOME, 'profile-'))
  const dataDir = join(dir, 'data')
  const runtime = ['--cpu-prof', `--cpu-prof-dir=${dir}`, '--cpu-prof-interval=250']
  const server = await startForms(
    { ...version, dataDir },
    { kinds: [kind], workspaces: options.workspaces, runtime },
  )
  await server.send(kind, 2)
  const before = readThreads(server.pid)
  const from = Date.now()
  const { perSecond } = await server.send(kind, options.seconds)
  const until = Date.now()
  const after = readThreads(server.pid)
  const submissions = perSecond * options.seconds
  const threads = new Map(
    [...after].map(([name, us]) => [name, (us - (before.get(name) ?? 0)) / submissions]),
  )
  await server.end()
  note(`${version.name}, ${kind}: ${submissions} submissions`)
  const file = readdirSync(dir).find((name) => name.endsWith('.cpuprofile')) as string
  const mainUs = threads.get(MAIN) as number
  const stages = countSamples(join(dir, file), from, until)
  const sampled = [...stages.values()].reduce((sum, count) => sum + count, 0)
  // The sampler sees running code; the main thread also waits in the kernel and collects garbage.
  return {
    stages: new Map([...stages].map(([stage, count]) => [stage, (count / sampled) * mainUs])),
    threads,
  }
}

const columns: { title: string; stages: Map<string, number>; threads: Map<string, number> }[] = []
for (const version of listVersions(words.filter((word) => !isFormKind(word))))
  for (const kind of kinds)
    columns.push({ title: `${version.name}, ${kind}`, ...(await measure(version, kind)) })
const toCells = (read: (column: (typeof columns)[number]) => number | undefined) =>
  columns.map((column) => (read(column) ?? 0).toFixed(1))
const names = [...new Set(columns.flatMap(({ threads }) => [...threads.keys()]))].filter(
  (name) => name !== MAIN,
)
print(
  toTable(
    ['µs of processor time of a submission', ...columns.map(({ title }) => title)],
    [
      ...[...STAGES.map(([stage]) => stage), LATER].map((stage) => [
        stage,
        ...toCells(({ stages }) => stages.get(stage)),
      ]),
      ['**main thread**', ...toCells(({ threads }) => threads.get(MAIN))],
      ...names
        .filter((name) => columns.some(({ threads }) => (threads.get(name) ?? 0) >= 1))
        .map((name) => [`threads “${name}”`, ...toCells(({ threads }) => threads.get(name))]),
      [
        '**all threads**',
        ...toCells(({ threads }) => [...threads.values()].reduce((sum, us) => sum + us, 0)),
      ],
    ],
  ),
)
process.exit(0)
