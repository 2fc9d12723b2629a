// Shows each rule a deliberate offence, and the same file done right.

import { describe, expect, test } from 'bun:test'
import { findViolations } from './find-violations.ts'
import { ALLOWED_FEATURE_IMPORTS } from './layers.ts'
import type { RepositoryFile, RuleException, RuleName } from './rule.ts'

/** Every file of a case opens as the rule on openings wants it, unless it opens with a comment of its own. */
const OPENING = '// This file is here for a test.\n'
const toFile = (path: string, text: string) => {
  return { path, text: text.startsWith('//') ? text : OPENING + text }
}

const TABLES = toFile(
  'server/storage/database/tables.ts',
  'export interface Boats {\n  id: number\n  workspace_id: number\n}\n\nexport interface Tables {\n  boats: water.Boats\n}\n',
)

interface Case {
  offence: string
  /** The file of the offence. */
  path: string
  bad: string
  /** The same file, done right. */
  good?: string
  /** Files that stand beside it in both. */
  beside?: RepositoryFile[]
}

const importing = (specifier: string) => `import { a } from '${specifier}'\n`
const importingType = (specifier: string) => `import type { A } from '${specifier}'\n`
const many = (line: string, count: number) => `${line}\n`.repeat(count)
const verb = (...lines: string[]) => `export async function sink({ db }) {\n  ${lines.join('\n  ')}\n}\n`

const CASES: Partial<Record<RuleName, Case[]>> = {
  layers: [
    {
      offence: 'a feature that uses what starts it',
      path: 'server/features/links/create.ts',
      bad: importing('../../start/services.ts'),
      good: importing('../../lib/url.ts'),
    },
    {
      offence: 'storage that uses a feature, if only a type of it',
      path: 'server/storage/database/open-database.ts',
      bad: importingType('../../features/links/schema.ts'),
      good: importing('../hits/engine.ts'),
    },
    {
      offence: 'http that uses storage',
      path: 'server/http/error-response.ts',
      bad: importing('../storage/database/open.ts'),
      good: importing('../lib/failure.ts'),
    },
    {
      offence: 'storage that uses http, in an import of several lines',
      path: 'server/storage/geo.ts',
      bad: "import {\n  a,\n  type B,\n} from '../http/answer.ts'\n",
    },
    {
      offence: 'lib that imports something of ours',
      path: 'server/lib/url.ts',
      bad: "export { a } from '../http/answer.ts'\n",
      good: importing('./text.ts'),
    },
    {
      offence: 'a server file that imports from the tests',
      path: 'server/http/error-response.ts',
      bad: "const a = await import('../../tests/support/postgres.ts')\n",
    },
    { offence: 'a folder in server/ that is no layer', path: 'server/core/links.ts', bad: '' },
  ],
  features: [
    {
      offence: 'an arrow that is not listed',
      path: 'server/features/links/create.ts',
      bad: importing('../forms/create.ts'),
      good: importing('../accounts/actor.ts'),
    },
    {
      offence: 'an arrow against its direction, if only for a type',
      path: 'server/features/hits/worker/client.ts',
      bad: importingType('../../redirect/destination.ts'),
    },
    { offence: 'a feature that is not listed', path: 'server/features/boats/float.ts', bad: '' },
  ],
  entrances: [
    {
      offence: 'a verb that uses routes',
      path: 'server/features/links/bulk.ts',
      bad: importing('./api.ts'),
      good: importingType('./api.ts'),
    },
    {
      offence: 'a job that imports a public entrance when it runs',
      path: 'server/start/jobs.ts',
      bad: "const { a } = await import('../features/forms/public.ts')\n",
    },
    {
      offence: 'routes of a room that somebody other than the route map mounts',
      path: 'server/web/rest.ts',
      bad: importing('../features/forms/page-check/check-api.ts'),
      good: importing('../features/forms/page-check/check-page.ts'),
    },
    {
      offence: 'a handler that the route map mounts, imported by another file',
      path: 'server/start/services.ts',
      bad: importing('../features/tracking/snippet.ts'),
      good: importing('../features/accounts/access/guard.ts'),
      beside: [
        toFile(
          'server/web/routes.ts',
          importing('../features/tracking/snippet.ts') + importing('../features/accounts/access/guard.ts'),
        ),
      ],
    },
  ],
  environment: [
    {
      offence: 'the environment read outside config.ts',
      path: 'server/main.ts',
      bad: 'const port = process.env.PORT\n',
      good: "// The value of process.env is read elsewhere.\nconst note = 'process.env'\n",
    },
    {
      offence: 'the environment by another name',
      path: 'server/http/error-response.ts',
      bad: 'const { env, argv } = process\nconst a = Bun.env.A\n',
    },
  ],
  drivers: [
    {
      offence: 'a driver in a feature',
      path: 'server/features/links/create.ts',
      bad: "import { Database } from 'bun:sqlite'\n",
    },
    {
      offence: 'a driver in a feature, if only a type of it',
      path: 'server/features/analytics/answer-clicks.ts',
      bad: importingType('@duckdb/node-api'),
    },
  ],
  texts: [
    {
      offence: 'a text of a stranger that is normalized without a bound',
      path: 'server/features/links/slug.ts',
      bad: `export const a = (text: string) => text.normalize('NFC')\n`,
      good: `export const a = (text: string) => normalizeUnicode(text, 'NFC')\n`,
    },
    {
      offence: 'a URL that is parsed without a bound on its host',
      path: 'server/features/visitors/referrer.ts',
      bad: 'export const a = (text: string) => URL.parse(text)\n',
      good: 'export const a = (text: string) => parseUrl(text)\n',
    },
  ],
  clocks: [
    {
      offence: 'a quick test that waits for a time',
      path: 'server/features/links/slug.test.ts',
      bad: 'await Bun.sleep(100)\n',
      good: "await until('the link', () => links.length)\n",
    },
    {
      offence: 'a quick test that is about today',
      path: 'server/features/links/slug.test.ts',
      bad: 'const at = new Date().toISOString()\n',
      good: "const at = new Date('2026-05-01').toISOString()\n",
    },
    {
      offence: 'a test whose choices cannot be repeated',
      path: 'tests/faults/move.full.test.ts',
      bad: 'await Bun.sleep(Math.random())\n',
      good: 'await Bun.sleep(random())\n',
    },
  ],
  fetch: [
    {
      offence: 'fetch without an address check',
      path: 'server/features/notify/delivery/deliverer.ts',
      bad: "const answer = await fetch('https://example.com')\n",
      good: 'Bun.serve({\n  fetch(request) {\n    return app.fetch(request)\n  },\n})\n',
    },
  ],
  dashboard: [
    {
      offence: 'the dashboard taking a value from a verb',
      path: 'dashboard/pages/links/list/link-list.tsx',
      bad: importing('../../../../server/features/links/create.ts'),
      good: importing('../../../../server/features/links/schema.ts'),
    },
    {
      offence: 'the dashboard taking a value from a setting',
      path: 'dashboard/pages/forms/form-examples.ts',
      bad: importing('../../../server/features/forms/settings/form-key.ts'),
      good: importing('../../../server/features/forms/markup.ts'),
    },
    {
      offence: 'a library in markup, which the dashboard bundles',
      path: 'server/features/forms/markup.ts',
      bad: importing('zod'),
    },
    {
      offence: 'the dashboard taking a value from routes',
      path: 'dashboard/client.ts',
      bad: importing('../server/features/links/api.ts'),
      good: importingType('../server/features/links/api.ts'),
    },
  ],
  snippet: [
    {
      offence: 'a dependency in the snippet',
      path: 'snippet/towpath.ts',
      bad: importing('zod'),
      good: importing('./submit.ts'),
    },
    {
      offence: 'the snippet using a package',
      path: 'snippet/towpath.ts',
      bad: importing('../packages/boat.ts'),
    },
  ],
  packages: [
    {
      offence: 'a package that takes something of the server',
      path: 'packages/snippet/boat.ts',
      bad: importing('../../server/lib/url.ts'),
      good: importing('../../snippet/submit.ts'),
    },
    {
      offence: 'React in the package that needs none',
      path: 'packages/snippet/boat.ts',
      bad: importing('react'),
      good: importing('../boat.ts'),
    },
  ],
  workspace: [
    {
      offence: 'a query on the rows of all workspaces',
      path: 'server/features/links/get.ts',
      bad: "const boat = db\n  .selectFrom('boats')\n  .select(['id', 'workspace_id'])\n  .where('id', '=', id)\n",
      good: "const boat = db\n  .selectFrom('boats')\n  .where('workspace_id', '=', actor.workspaceId)\n  .where('id', '=', id)\n",
    },
    {
      offence: 'a deletion on the rows of all workspaces, beside a query on one',
      path: 'server/features/links/delete.ts',
      bad: "await Promise.all([\n  db.selectFrom('boats').where('workspace_id', '=', own),\n  db.deleteFrom('boats').where('id', '=', id),\n])\n",
    },
    {
      offence: 'a join that names no workspace in its condition',
      path: 'server/features/links/get.ts',
      bad: "db.selectFrom('boats as b').innerJoin('locks', 'locks.workspace_id', 'b.workspace_id').selectAll()\n",
      good: "db.selectFrom('boats as b').innerJoin('locks', (j) => j.on('b.workspace_id', '=', own)).selectAll()\n",
    },
    {
      offence: 'SQL text on the rows of all workspaces',
      path: 'server/features/links/get.ts',
      bad: 'await sql<{ id: number }>`update boats set sunk = 1`.execute(db)\n',
      good: 'await sql<{ id: number }>`update boats set sunk = 1 where workspace_id = 7`.execute(db)\n',
    },
  ],
  allow: [
    {
      offence: 'a verb that writes and does not call allow()',
      path: 'server/features/links/sink.ts',
      bad: verb("await db.write((connection) => connection.insertInto('locks').execute())"),
      good: verb(
        "allow(actor, 'links:write')",
        "await db.write((connection) => connection.insertInto('locks').execute())",
      ),
    },
    {
      offence: 'a verb that calls allow() after its first query',
      path: 'server/features/links/sink.ts',
      bad: verb(
        "await db.write((connection) => connection.insertInto('locks').execute())",
        "allow(actor, 'links:write')",
      ),
      good: `${verb('return db.write((connection) => sinkIn(connection))')}\nfunction sinkIn(connection) {\n  allow(actor, 'links:write')\n}\n`,
    },
  ],
  length: [
    {
      offence: 'a function of 71 lines',
      path: 'server/features/links/create.ts',
      bad: `export function long({ a }: { a: string }): { b: string } {\n${many('  call()', 69)}}\n`,
      good: `export function long({ a }: { a: string }): { b: string } {\n${many('  call()', 68)}}\n`,
    },
    {
      offence: 'a long arrow and a long callback',
      path: 'server/web/routes.ts',
      bad: `const long = async (\n  a: string,\n): Promise<void> => {\n${many("  if (a) call('{')", 70)}}\n`,
      good: `const short = () => {\n${many("  call('}')", 60)}}\n\nserve(() => {\n${many(`  call(\`\${a} {\`)`, 60)}})\n`,
    },
    {
      offence: 'a long method',
      path: 'server/lib/queue.ts',
      bad: `export const queue = {\n  async take(n: number) {\n${many('    call(/[{]/)', 70)}  },\n}\n`,
      good: `export const queue = {\n  async take(n: number) {\n${many('    call(/[{]/)', 60)}  },\n}\n`,
    },
    {
      offence: 'a function of many short inner functions',
      path: 'server/lib/queue.ts',
      bad: `export function createQueue() {\n${many('  function put() {\n    call()\n  }', 24)}}\n`,
      good: `export function createQueue() {\n  return {}\n}\n${many('function put() {\n  call()\n}', 24)}`,
    },
    {
      offence: 'a file of 601 lines',
      path: 'server/lib/words.ts',
      bad: many('// This file is long.', 601),
      good: many('// This file is long.', 600),
    },
  ],
  rooms: [
    {
      offence: 'a circle of three rooms, one arrow of it for a type only',
      path: 'server/features/hits/spool/reader.ts',
      bad: importingType('../worker/protocol.ts'),
      good: importingType('../schema.ts'),
      beside: [
        toFile('server/features/hits/worker/main.ts', importing('../batches/writer.ts')),
        toFile('server/features/hits/batches/writer.ts', importing('../spool/record.ts')),
        toFile('server/features/hits/api.ts', importing('./spool/spool.ts')),
      ],
    },
    {
      offence: 'a file beside the rooms that uses a room which uses it',
      path: 'server/features/hits/erase.ts',
      bad: importing('./worker/client.ts'),
      good: importing('./click-id.ts'),
      beside: [toFile('server/features/hits/worker/main.ts', importing('../record.ts'))],
    },
  ],
  circles: [
    {
      offence: 'two files that import each other, one of them a type only',
      path: 'dashboard/ui/chart.tsx',
      bad: importingType('./axis.tsx'),
      good: importingType('./suite.tsx'),
      beside: [toFile('dashboard/ui/axis.tsx', importing('./chart.tsx'))],
    },
  ],
  exports: [
    {
      offence: 'a name that another file exports too',
      path: 'server/http/visit.ts',
      bad: 'export interface Visit {\n  at: number\n}\n',
      good: 'interface Visit {\n  at: number\n}\n',
      beside: [
        toFile('server/lib/visit.ts', 'export const Visit = 1\nexport type Visit = 1\n'),
        toFile('dashboard/api/visit.ts', 'export function Visit() {}\n'),
        toFile('server/lib/visit.fixture.ts', 'export class Visit {}\n'),
      ],
    },
  ],
  names: [
    {
      offence: 'a type called by a participle',
      path: 'server/lib/letter.ts',
      bad: 'export type Sent = 1\n',
      good: 'export type SentLetter = 1\nexport const Sent = 1\ntype Told = 1\nexport interface Feed {}\n',
    },
    {
      offence: 'a type called by a participle in -ed',
      path: 'dashboard/api/link.ts',
      bad: 'export interface Joined {}\n',
    },
    { offence: 'a file called utils', path: 'server/lib/string-utils.ts', bad: '' },
    { offence: 'a file called repository', path: 'server/features/links/repository.ts', bad: '' },
    { offence: 'a folder called common', path: 'dashboard/common/button.tsx', bad: '' },
    { offence: 'a file that only passes on exports', path: 'server/features/links/index.ts', bad: '' },
    { offence: 'a test file in a folder without tests', path: 'snippet/towpath.test.ts', bad: '' },
  ],
  openings: [
    {
      offence: 'a file that opens with code',
      path: 'server/lib/letter.ts',
      bad: "//\nimport { a } from './a.ts'\n",
      good: '// This file reads letters from\n// anybody.\n',
    },
    {
      offence: 'a file that opens with a few words',
      path: 'snippet/letter.ts',
      bad: '// Reading letters.\n',
      good: '/**\n * Letters are read here.\n */\n',
    },
    {
      offence: 'a file that opens with no sentence',
      path: 'snippet/letter.ts',
      bad: '// how a letter is read.\n',
    },
  ],
  words: [
    {
      offence: 'a file that opens with half a question',
      path: 'tests/support/letter.ts',
      bad: '// Whether a letter has been read before.\n',
      good: '// The reading of letters. What it finds is kept.\n',
    },
    {
      offence: 'a sentence that begins with a pronoun for nobody',
      path: 'server/lib/letter.ts',
      bad: `const a = 1 // Who${'ever'} reads a letter answers it.\n`,
      good: `const a = 1 // The reader answers a letter, who${'ever'} has written it.\n`,
    },
    {
      offence: 'a phrase that goes on in the next line',
      path: 'docs/letters.md',
      bad: '# Letters\n\nThe sender waits in\nvain.\n',
      good: '# Letters\n\nThe sender waits in\nthe rain.\n',
    },
    {
      offence: 'a sentence about the lack of something',
      path: 'server/lib/letter.ts',
      bad: `/** What a reader ${'has'} not read. */\n`,
      good: '/** Unread letters are kept. */\n',
    },
    {
      offence: 'a text that docs/voice.md has replaced',
      path: 'dashboard/pages/letter.tsx',
      bad: `// The page of a letter.\nexport const text = 'The letter is deleted for${' good'}'\n`,
      good: "// The page of a letter.\nexport const text = 'The letter is permanently deleted'\n",
    },
  ],
}

describe('each rule refuses', () => {
  test.each(
    Object.entries(CASES).flatMap(([rule, cases]) =>
      cases.map((one) => [rule as RuleName, one.offence, one] as const),
    ),
  )('%s: %s', (rule, _, { path, bad, good, beside = [] }) => {
    const findIn = (text: string) => findViolations([TABLES, ...beside, toFile(path, text)])
    const found = findIn(bad)
    expect(new Set(found.map((one) => one.rule))).toEqual(new Set([rule]))
    // A rule on rooms names the room.
    expect(found.some(({ file }) => path.startsWith(file))).toBe(true)
    if (good !== undefined) expect(findIn(good)).toEqual([])
  })

  test('folders: 41 product files side by side', () => {
    const fill = (count: number, ending: string) =>
      Array.from({ length: count }, (_, i) => toFile(`server/lib/part-${i}${ending}`, ''))
    expect(findViolations(fill(41, '.ts'))).toMatchObject([{ rule: 'folders', file: 'server/lib' }])
    expect(findViolations([...fill(40, '.ts'), ...fill(40, '.test.ts'), ...fill(40, '.fixture.ts')])).toEqual(
      [],
    )
  })

  test('tests and fixtures may import anything and be long', () => {
    const text =
      importing('../../config.ts') + importing('./api.ts') + importing('bun:sqlite') + many('call()', 700)
    for (const ending of ['test', 'fixture'])
      expect(findViolations([{ path: `server/features/links/create.${ending}.ts`, text }])).toEqual([])
  })

  test('only server/start/services.ts may be called services', () => {
    expect(findViolations([toFile('server/start/services.ts', '')])).toEqual([])
    expect(findViolations([toFile('server/http/services.ts', '')])).toMatchObject([{ rule: 'names' }])
  })

  test('an exception covers what it names, and is a violation when nothing needs it', () => {
    const path = 'server/features/links/get.ts'
    const file = toFile(path, `function anyBoat(db) {\n  return db.selectFrom('boats').selectAll()\n}\n`)
    const exception: RuleException = { rule: 'workspace', file: path, what: 'anyBoat', why: 'a test' }
    expect(findViolations([TABLES, file], [exception])).toEqual([])
    expect(findViolations([TABLES, file], [{ ...exception, what: 'other' }])).toHaveLength(2)
    expect(findViolations([TABLES, toFile(path, '')], [exception])).toMatchObject([
      { rule: 'exceptions', file: path },
    ])
  })

  test('a long function with an exception may get shorter and not longer', () => {
    const path = 'server/lib/queue.ts'
    const withLines = (lines: number) => [
      toFile(path, `function long() {\n${many('  call()', lines - 2)}}\n`),
    ]
    const granted: RuleException[] = [{ rule: 'length', file: path, what: 'long', lines: 80, why: 'a test' }]
    expect(findViolations(withLines(80), granted)).toEqual([])
    expect(findViolations(withLines(81), granted)).toMatchObject([{ rule: 'length', what: 'long' }])
    expect(findViolations(withLines(70), granted)).toMatchObject([{ rule: 'exceptions', what: 'long' }])
    expect(findViolations([toFile(path, '')], granted)).toMatchObject([{ rule: 'exceptions', what: 'long' }])
  })

  test('the arrows between features make no circle', () => {
    const seen = (feature: string, path: string[]): void => {
      expect(path).not.toContain(feature)
      for (const used of ALLOWED_FEATURE_IMPORTS[feature] ?? []) seen(used, [...path, feature])
    }
    for (const feature of Object.keys(ALLOWED_FEATURE_IMPORTS)) seen(feature, [])
  })
})
