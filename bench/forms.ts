// Measures form submissions: bun bench/forms.ts [plain|everything] [<another checkout>] [--rounds=5] [--seconds=2]
// [--workspaces=100]. A plain form, and forms with rules, a trained classifier, a reply and two channels, beside a loop
// that only inserts such rows; then redirects beside full form load. With another checkout, its plain and full forms too.

import { join } from 'node:path'
import { type FormKind, readKinds, SENDERS, startForms } from './forms-servers.ts'
import {
  atLeast,
  finish,
  HOME,
  LOAD_COLUMNS,
  type LoadResult,
  listVersions,
  loadBeside,
  medianRatio,
  readOptions,
  runProgram,
  runRounds,
  seed,
  sumOf,
  toBesideTable,
  toLoadCells,
  toTable,
} from './harness.ts'

const { words, ...options } = readOptions({ rounds: 5, seconds: 2, workspaces: 100 })
const { kinds, rest } = readKinds(words)
const P99_MAX = 2
const SHARE_OF_LOOP: Record<FormKind, number> = { plain: 0.35, everything: 0.2 }
const loopDir = join(HOME, 'loop')
const { workspaceId } = await seed({ dataDir: loopDir, links: 1 })
const loop = () => runProgram<LoadResult>(0, 'forms-inserts.ts', loopDir, workspaceId, options.seconds)
const versions = listVersions(rest)
const servers: Awaited<ReturnType<typeof startForms>>[] = []
for (const version of versions)
  servers.push(await startForms(version, { kinds, workspaces: options.workspaces }))
const contenders = servers.flatMap((server) => kinds.map((kind) => ({ kind, server })))
for (const { kind, server } of contenders) await server.send(kind, 1)
const runs = contenders.map(({ kind, server: { send } }) => send.bind(null, kind, options.seconds))
const results = await runRounds(options.rounds, [...runs, loop])
const inserts = results.at(-1) as LoadResult[]
const rows = results.map((rounds, n) => {
  const { kind, server } = contenders[n] ?? {}
  const share = medianRatio(rounds, inserts, 'perSecond')
  const other = server === servers[0] && versions.length > 1 ? results[n + kinds.length] : undefined
  return [
    kind ? `${server?.name}, ${kind}` : `inserts only, ${SENDERS} to a commit`,
    ...toLoadCells(rounds),
    `${share.toFixed(2)}${kind ? `, ${atLeast(SHARE_OF_LOOP[kind], share)}` : ''}`,
    other ? medianRatio(rounds, other, 'processorUs').toFixed(2) : '',
  ]
})
const [towpath] = servers as [(typeof servers)[number]]
const startLoad = (kind: FormKind) => () => ({
  ended: towpath.send(kind, Math.ceil(options.seconds) + 2),
  stop() {},
})
const beside = await runRounds(
  options.rounds,
  kinds.map((kind) => () => loadBeside(towpath.port, options.seconds, startLoad(kind))),
  'redirects:',
)
finish(
  toTable([`${SENDERS} connections`, ...LOAD_COLUMNS, 'of the loop', 'µs / the other checkout'], rows),
  ...kinds.map((kind, n) => toBesideTable(`while forms are sent: ${kind}`, beside[n] ?? [], P99_MAX)),
  `Refused: ${sumOf(results.flat(), 'failed')}. ${servers.map((server) => server.describeStored()).join('. ')}.`,
)
