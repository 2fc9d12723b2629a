// Measures form submissions: bun bench/forms.ts [plain|everything] [<another checkout>] [--rounds=5] [--seconds=2]
// [--workspaces=100] [--stored=0]. A plain form, and forms with rules, a trained classifier, a reply and two channels, beside a loop
// that only inserts such rows; then redirects beside full form load. With another checkout, its plain and full forms too.

import { join } from 'node:path'
import { type FormKind, isFormKind, SENDERS, startForms } from './forms-servers.ts'
import {
  atLeast,
  formatCount,
  medianOf,
  medianRatio,
  print,
  readOptions,
  runRounds,
  toTable,
} from './harness.ts'
import type { LoadResult } from './load.ts'
import { loadBeside, toBesideTable } from './paced-load.ts'
import { HOME, listVersions, pinToCore, seed } from './servers.ts'

const { words, ...options } = readOptions({ rounds: 5, seconds: 2, workspaces: 100, stored: 0 })
const kinds: FormKind[] = words.some(isFormKind) ? words.filter(isFormKind) : ['plain', 'everything']
const P99_MAX = 2
const SHARE_OF_LOOP: Record<FormKind, number> = { plain: 0.35, everything: 0.2 }

async function startLoop(): Promise<() => Promise<LoadResult>> {
  const dataDir = join(HOME, 'loop')
  const { workspaceId } = await seed({ dataDir, links: 1 })
  const words = [join(import.meta.dir, 'forms-inserts.ts'), dataDir, workspaceId, options.seconds].map(String)
  return async () => {
    const child = Bun.spawn(pinToCore(0, [process.execPath, ...words]), { stderr: 'inherit' })
    return JSON.parse(await new Response(child.stdout).text())
  }
}

const versions = listVersions(words.filter((word) => !isFormKind(word)))
const servers: Awaited<ReturnType<typeof startForms>>[] = []
try {
  for (const version of versions) servers.push(await startForms(version, { kinds, ...options }))
  const loop = await startLoop()
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
      formatCount(medianOf(rounds, 'perSecond')),
      medianOf(rounds, 'p50Ms').toFixed(2),
      medianOf(rounds, 'p99Ms').toFixed(2),
      medianOf(rounds, 'processorUs').toFixed(0),
      `${share.toFixed(2)}${kind ? `, ${atLeast(SHARE_OF_LOOP[kind], share)}` : ''}`,
      other ? medianRatio(rounds, other, 'processorUs').toFixed(2) : '',
    ]
  })
  const [towpath] = servers as [(typeof servers)[number]]
  const beside = await runRounds(
    options.rounds,
    kinds.map((kind) => () => {
      const { seconds } = options
      const start = () => ({ ended: towpath.send(kind, Math.ceil(seconds) + 2), stop() {} })
      return loadBeside(towpath.port, seconds, start)
    }),
    'redirects:',
  )
  const header = [`${SENDERS} connections`, 'acknowledged/s', 'p50 ms', 'p99 ms', 'µs of all threads']
  const failed = results.flat().reduce((sum, result) => sum + result.failed, 0)
  print(
    toTable([...header, 'of the loop', 'µs / the other checkout'], rows),
    ...kinds.map((kind, n) => toBesideTable(`while forms are sent: ${kind}`, beside[n] ?? [], P99_MAX)),
    `Refused: ${failed}. ${servers.map((server) => server.countStored()).join('. ')}.`,
  )
} finally {
  for (const server of servers) await server.end()
}
process.exit(0)
