// The operator's commands as processes of their own, beside a running server.

import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onBothEngines } from '../tests/support/server.ts'

const ROOT = join(import.meta.dir, '..')
const BUN = join(ROOT, 'node_modules/.bin/bun')

async function towpath(
  env: Record<string, string | undefined>,
  words: string[],
  program = [BUN, 'server/cli.ts'],
) {
  const child = Bun.spawn([...program, ...words], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err }
}

onBothEngines('the command line beside a running server', (server) => {
  const env = () => ({ DATA_DIR: server().dataDir, DATABASE_URL: server().databaseUrl })
  const run = (...words: string[]) => towpath(env(), words)
  /** What a command prints when all is well: `out` alone. */
  const printed = async (...words: string[]) => {
    const { code, out, err } = await run(...words)
    expect([code, err]).toEqual([0, ''])
    return out
  }
  const withKey = (key: string, path = '/v1/links') =>
    server().call(path, { headers: { Authorization: `Bearer ${key}` } })

  test('makes a workspace and a key that work at once, and ends the key at once', async () => {
    const made = JSON.parse(await printed('workspace', 'create', 'My team'))
    expect(made).toEqual({
      id: expect.any(Number),
      publicId: expect.stringMatching(/^ws_[2-9a-z]{16}$/),
      name: 'My team',
      plan: 'enterprise',
    })
    const out = await printed('key', 'create', '--workspace', String(made.id))
    expect(out).toMatch(/^tp_[0-9A-Za-z]{36}\n$/)
    const key = out.trim()
    expect((await withKey(key)).headers.get('x-ratelimit-limit')).toBe('300')

    await printed('key', 'create', '--workspace', String(made.id), '--name', 'second')
    const listed = (await printed('key', 'list', '--workspace', String(made.id))).trimEnd().split('\n')
    const [first, second] = listed.map((line) => JSON.parse(line))
    expect(first).toMatchObject({ name: 'command line', lastFour: key.slice(-4), revoked: false })
    expect(second).toMatchObject({ name: 'second', revoked: false })
    expect(listed.join()).not.toContain(key)

    expect(JSON.parse(await printed('key', 'revoke', String(first.id)))).toEqual({
      id: first.id,
      revoked: true,
    })
    expect((await withKey(key)).status).toBe(401)
  })

  test('changes a plan, which binds with the next request', async () => {
    const { id } = JSON.parse(await printed('workspace', 'create', 'Poor', '--plan', 'free'))
    const key = (await printed('key', 'create', '--workspace', String(id))).trim()
    expect((await withKey(key)).status).toBe(403)
    expect(JSON.parse(await printed('workspace', 'plan', String(id), 'Pro'))).toMatchObject({
      id,
      plan: 'pro',
    })
    expect((await withKey(key)).headers.get('x-ratelimit-limit')).toBe('30')
  })

  test('says what is not there', async () => {
    for (const [words, message] of [
      [['workspace', 'plan', '999999', 'pro'], 'Workspace not found'],
      [['key', 'create', '--workspace', '999999'], 'Workspace not found'],
      [['key', 'list', '--workspace', '999999'], 'Workspace not found'],
      [['key', 'revoke', '999999'], 'API key not found'],
    ] as const) {
      expect(await run(...words)).toEqual({ code: 1, out: '', err: `${message}\n` })
    }
  })
})

describe('the command line', () => {
  const inEmptyDir = async <T>(use: (dir: string) => Promise<T>) => {
    const dir = mkdtempSync(join(tmpdir(), 'towpath-test-'))
    try {
      return await use(dir)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  }

  test('is what the README says: npm run -s towpath -- …, on an empty directory', async () => {
    await inEmptyDir(async (DATA_DIR) => {
      const npm = ['npm', 'run', '-s', 'towpath', '--']
      const made = await towpath({ DATA_DIR, DEFAULT_PLAN: 'scale' }, ['workspace', 'create', 'My team'], npm)
      expect([made.code, made.err]).toEqual([0, ''])
      expect(JSON.parse(made.out)).toMatchObject({ id: 1, name: 'My team', plan: 'scale' })
      expect(await towpath({ DATA_DIR }, ['key', 'revoke', '7'], npm)).toEqual({
        code: 1,
        out: '',
        err: 'API key not found\n',
      })
    })
  }, 15_000)

  test.each([[[]], [['help']], [['--help']], [['-h']]])(
    '%p explains itself and touches nothing',
    async (words) => {
      await inEmptyDir(async (DATA_DIR) => {
        const { code, out, err } = await towpath({ DATA_DIR }, words)
        expect([code, err]).toEqual([0, ''])
        for (const command of [
          'workspace create',
          'workspace plan',
          'key create',
          'key revoke',
          'key list',
        ]) {
          expect(out).toContain(`\n  ${command} `)
        }
        expect(readdirSync(DATA_DIR)).toEqual([])
      })
    },
  )

  // Options and words that a command would not heed are refused: `create My team` must not make "My".
  test.each([
    [['workspace', 'create'], 'A workspace needs a name of 1 to 100 characters.'],
    [['workspace', 'create', '  '], 'A workspace needs a name of 1 to 100 characters.'],
    [['workspace', 'create', 'x'.repeat(101)], 'A workspace needs a name of 1 to 100 characters.'],
    [
      ['workspace', 'create', 'My', 'team'],
      '"workspace create" takes no word "team". Put names of several words in quotes.',
    ],
    [
      ['workspace', 'create', 'a', '--plan', 'gold'],
      'A plan is one of free, pro, business, scale, enterprise.',
    ],
    [['workspace', 'create', 'a', '--name', 'b'], '"workspace create" has no option --name.'],
    [['workspace', 'plan', '1'], 'A plan is one of free, pro, business, scale, enterprise.'],
    [['workspace', 'plan', 'one', 'pro'], 'The id of a workspace must be a whole number.'],
    [['key', 'create'], '--workspace must be a whole number.'],
    [['key', 'create', '--workspace', '1', '--name', ''], 'A key needs a name of 1 to 100 characters.'],
    [['key', 'revoke'], 'The id of a key must be a whole number.'],
    [['key', 'revoke', '1e3'], 'The id of a key must be a whole number.'],
    [['key', 'create', '--colour', 'red'], "Unknown option '--colour'"],
    [['key', 'destroy'], 'There is no command "key destroy".'],
    [['constructor', ''], 'There is no command "constructor ".'],
    [['toString'], 'There is no command "toString".'],
  ])('%p is refused', async (words, message) => {
    await inEmptyDir(async (DATA_DIR) => {
      const { code, out, err } = await towpath({ DATA_DIR }, words)
      expect([code, out]).toEqual([1, ''])
      expect(err).toStartWith(message)
    })
  })

  test('names every wrong setting, and a database that does not answer', async () => {
    await inEmptyDir(async (DATA_DIR) => {
      const wrong = await towpath({ DATA_DIR, PORT: 'x', DEFAULT_PLAN: 'gold' }, ['key', 'revoke', '1'])
      expect([wrong.code, wrong.out]).toEqual([1, ''])
      expect(
        wrong.err
          .trimEnd()
          .split('\n')
          .map((line) => line.split(':')[0]),
      ).toEqual(['PORT', 'DEFAULT_PLAN'])

      const DATABASE_URL = 'postgres://u:hunter2@127.0.0.1:1/d'
      const away = await towpath({ DATA_DIR, DATABASE_URL }, ['key', 'revoke', '1'])
      expect([away.code, away.out]).toEqual([1, ''])
      expect(away.err).toMatch(/^The database cannot be reached.*ECONNREFUSED/)
      expect(away.err).not.toContain('hunter2')
    })
  }, 15_000)
})
