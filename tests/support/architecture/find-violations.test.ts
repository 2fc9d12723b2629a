// Each house rule is shown a deliberate offence, and the same thing done right.

import { describe, expect, test } from 'bun:test'
import {
  ALLOWED_FEATURE_IMPORTS,
  findViolations,
  type RuleException,
  type RuleName,
} from './find-violations.ts'

const TABLES = {
  path: 'server/storage/database/tables.ts',
  text: 'export interface Boats {\n  id: number\n  workspace_id: number\n}\n\nexport interface Tables {\n  boats: Boats\n}\n',
}

interface Case {
  rule: RuleName
  offence: string
  path: string
  bad: string
  /** The same place, done right: says nothing. */
  good?: string
}

const importing = (specifier: string) => `import { a } from '${specifier}'\n`
const importingType = (specifier: string) => `import type { A } from '${specifier}'\n`
const many = (line: string, count: number) => `${line}\n`.repeat(count)
const verb = (...lines: string[]) => `export async function sink({ db }) {\n  ${lines.join('\n  ')}\n}\n`

const CASES: Case[] = [
  {
    rule: 'layers',
    offence: 'a feature that looks up to the wiring',
    path: 'server/features/links/create.ts',
    bad: importing('../../config.ts'),
    good: importing('../../lib/url.ts'),
  },
  {
    rule: 'layers',
    offence: 'storage that knows a feature, be it by a type',
    path: 'server/storage/database/open-database.ts',
    bad: importingType('../../features/links/schema.ts'),
    good: importing('../hits/engine.ts'),
  },
  {
    rule: 'layers',
    offence: 'http beside storage',
    path: 'server/http/error-response.ts',
    bad: importing('../storage/database/open.ts'),
    good: importing('../lib/failure.ts'),
  },
  {
    rule: 'layers',
    offence: 'storage beside http, across lines',
    path: 'server/storage/geo.ts',
    bad: "import {\n  a,\n  type B,\n} from '../http/answer.ts'\n",
  },
  {
    rule: 'layers',
    offence: 'lib that imports something of ours',
    path: 'server/lib/url.ts',
    bad: "export { a } from '../http/answer.ts'\n",
    good: importing('./text.ts'),
  },
  {
    rule: 'layers',
    offence: 'a server file that imports from the tests',
    path: 'server/http/error-response.ts',
    bad: "const a = await import('../../tests/support/postgres.ts')\n",
  },
  {
    rule: 'layers',
    offence: 'a room that the plan does not have',
    path: 'server/core/links.ts',
    bad: '',
  },
  {
    rule: 'features',
    offence: 'an arrow that is not drawn',
    path: 'server/features/links/create.ts',
    bad: importing('../forms/create.ts'),
    good: importing('../accounts/actor.ts'),
  },
  {
    rule: 'features',
    offence: 'an arrow against its direction, be it by a type',
    path: 'server/features/hits/worker/client.ts',
    bad: importingType('../../redirect/destination.ts'),
  },
  {
    rule: 'features',
    offence: 'a feature that the plan does not have',
    path: 'server/features/boats/float.ts',
    bad: '',
  },
  {
    rule: 'entrances',
    offence: 'routes that call routes',
    path: 'server/features/links/bulk.ts',
    bad: importing('./api.ts'),
    good: importingType('./api.ts'),
  },
  {
    rule: 'entrances',
    offence: 'a job that imports a public entrance when it runs',
    path: 'server/jobs.ts',
    bad: "const { a } = await import('./features/forms/public.ts')\n",
  },
  {
    rule: 'environment',
    offence: 'the environment read outside config.ts',
    path: 'server/main.ts',
    bad: 'const port = process.env.PORT\n',
    good: "// process.env is read elsewhere\nconst note = 'process.env'\n",
  },
  {
    rule: 'environment',
    offence: 'the environment by another name',
    path: 'server/http/error-response.ts',
    bad: 'const { env, argv } = process\nconst a = Bun.env.A\n',
  },
  {
    rule: 'drivers',
    offence: 'a driver in a feature',
    path: 'server/features/links/create.ts',
    bad: "import { Database } from 'bun:sqlite'\n",
  },
  {
    rule: 'drivers',
    offence: 'a driver in a feature, be it by a type',
    path: 'server/features/analytics/answer-clicks.ts',
    bad: importingType('@duckdb/node-api'),
  },
  {
    rule: 'fetch',
    offence: 'fetch without an address check',
    path: 'server/features/notify/delivery/deliverer.ts',
    bad: "const answer = await fetch('https://example.com')\n",
    good: 'Bun.serve({\n  fetch(request) {\n    return app.fetch(request)\n  },\n})\n',
  },
  {
    rule: 'dashboard',
    offence: 'the dashboard taking a value from a verb',
    path: 'dashboard/pages/links/list/link-list.tsx',
    bad: importing('../../../../server/features/links/create.ts'),
    good: importing('../../../../server/features/links/schema.ts'),
  },
  {
    rule: 'dashboard',
    offence: 'the dashboard taking a value from routes',
    path: 'dashboard/client.ts',
    bad: importing('../server/features/links/api.ts'),
    good: importingType('../server/features/links/api.ts'),
  },
  {
    rule: 'snippet',
    offence: 'a dependency in the snippet',
    path: 'snippet/towpath.ts',
    bad: importing('zod'),
    good: importing('./submit.ts'),
  },
  {
    rule: 'workspace',
    offence: 'a query on rows of any workspace',
    path: 'server/features/links/get.ts',
    bad: "const boat = db\n  .selectFrom('boats')\n  .select(['id', 'workspace_id'])\n  .where('id', '=', id)\n",
    good: "const boat = db\n  .selectFrom('boats')\n  .where('workspace_id', '=', actor.workspaceId)\n  .where('id', '=', id)\n",
  },
  {
    rule: 'workspace',
    offence: 'a deletion beside a query that is right',
    path: 'server/features/links/delete.ts',
    bad: "await Promise.all([\n  db.selectFrom('boats').where('workspace_id', '=', own),\n  db.deleteFrom('boats').where('id', '=', id),\n])\n",
  },
  {
    rule: 'workspace',
    offence: 'a join that is held to no workspace',
    path: 'server/features/links/get.ts',
    bad: "db.selectFrom('boats as b').innerJoin('locks', 'locks.workspace_id', 'b.workspace_id').selectAll()\n",
    good: "db.selectFrom('boats as b').innerJoin('locks', (j) => j.on('b.workspace_id', '=', own)).selectAll()\n",
  },
  {
    rule: 'workspace',
    offence: 'SQL text on rows of any workspace',
    path: 'server/features/links/get.ts',
    bad: 'await sql<{ id: number }>`update boats set sunk = 1`.execute(db)\n',
    good: 'await sql<{ id: number }>`update boats set sunk = 1 where workspace_id = 7`.execute(db)\n',
  },
  {
    rule: 'allow',
    offence: 'a verb that writes unasked',
    path: 'server/features/links/sink.ts',
    bad: verb("await db.write((connection) => connection.insertInto('locks').execute())"),
    good: verb(
      "allow(actor, 'links:write')",
      "await db.write((connection) => connection.insertInto('locks').execute())",
    ),
  },
  {
    rule: 'allow',
    offence: 'a verb that asks when it is too late',
    path: 'server/features/links/sink.ts',
    bad: verb(
      "await db.write((connection) => connection.insertInto('locks').execute())",
      "allow(actor, 'links:write')",
    ),
    good: `${verb('return db.write((connection) => sinkIn(connection))')}\nfunction sinkIn(connection) {\n  allow(actor, 'links:write')\n}\n`,
  },
  {
    rule: 'length',
    offence: 'a function of 71 lines',
    path: 'server/features/links/create.ts',
    bad: `export function long({ a }: { a: string }): { b: string } {\n${many('  call()', 69)}}\n`,
    good: `export function long({ a }: { a: string }): { b: string } {\n${many('  call()', 68)}}\n`,
  },
  {
    rule: 'length',
    offence: 'a long arrow and a long callback',
    path: 'server/app.ts',
    bad: `const long = async (\n  a: string,\n): Promise<void> => {\n${many("  if (a) call('{')", 70)}}\n`,
    good: `const short = () => {\n${many("  call('}')", 60)}}\n\nserve(() => {\n${many(`  call(\`\${a} {\`)`, 60)}})\n`,
  },
  {
    rule: 'length',
    offence: 'a long method',
    path: 'server/lib/queue.ts',
    bad: `export const queue = {\n  async take(n: number) {\n${many('    call(/[{]/)', 70)}  },\n}\n`,
    good: `export function queue() {\n  function one() {\n${many('    call()', 50)}  }\n  function two() {\n${many('    call()', 50)}  }\n}\n`,
  },
  {
    rule: 'length',
    offence: 'a file of 401 lines',
    path: 'server/lib/words.ts',
    bad: many('// word', 401),
    good: many('// word', 400),
  },
  { rule: 'names', offence: 'a drawer for everything', path: 'server/lib/string-utils.ts', bad: '' },
  { rule: 'names', offence: 'a layer by its pattern', path: 'server/features/links/repository.ts', bad: '' },
  { rule: 'names', offence: 'a folder of nothing', path: 'dashboard/common/button.tsx', bad: '' },
  { rule: 'names', offence: 'a barrel', path: 'server/features/links/index.ts', bad: '' },
  { rule: 'names', offence: 'a test that would never run', path: 'snippet/towpath.test.ts', bad: '' },
]

describe('each rule has teeth', () => {
  test.each(CASES.map((one) => [one.rule, one.offence, one] as const))(
    '%s: %s',
    (rule, _, { path, bad, good }) => {
      const found = findViolations([TABLES, { path, text: bad }])
      expect(found).not.toBeEmpty()
      for (const one of found) expect(one).toMatchObject({ rule, file: path })
      if (good !== undefined) expect(findViolations([TABLES, { path, text: good }])).toEqual([])
    },
  )

  test('tests may do what they test', () => {
    const text =
      importing('../../config.ts') + importing('./api.ts') + importing('bun:sqlite') + many('call()', 500)
    expect(findViolations([{ path: 'server/features/links/create.test.ts', text }])).toEqual([])
  })

  test('an exception covers what it names, and is reported once nothing needs it', () => {
    const path = 'server/features/links/get.ts'
    const text = `function anyBoat(db) {\n  return db.selectFrom('boats').selectAll()\n}\n`
    const exception: RuleException = { rule: 'workspace', file: path, what: 'anyBoat', why: 'a test' }
    expect(findViolations([TABLES, { path, text }], [exception])).toEqual([])
    expect(findViolations([TABLES, { path, text }], [{ ...exception, what: 'other' }])).toHaveLength(2)
    expect(findViolations([TABLES, { path, text: '' }], [exception])).toMatchObject([
      { rule: 'exceptions', file: path },
    ])
  })

  test('a long function that is let through may shrink and not grow', () => {
    const path = 'server/lib/queue.ts'
    const withLines = (lines: number) => [
      { path, text: `function long() {\n${many('  call()', lines - 2)}}\n` },
    ]
    const granted: RuleException[] = [{ rule: 'length', file: path, what: 'long', lines: 80, why: 'a test' }]
    expect(findViolations(withLines(80), granted)).toEqual([])
    expect(findViolations(withLines(81), granted)).toMatchObject([{ rule: 'length', what: 'long' }])
    expect(findViolations(withLines(70), granted)).toMatchObject([{ rule: 'exceptions', what: 'long' }])
  })

  test('the arrows between features make no circle', () => {
    const seen = (feature: string, path: string[]): void => {
      expect(path).not.toContain(feature)
      for (const used of ALLOWED_FEATURE_IMPORTS[feature] ?? []) seen(used, [...path, feature])
    }
    for (const feature of Object.keys(ALLOWED_FEATURE_IMPORTS)) seen(feature, [])
  })
})
