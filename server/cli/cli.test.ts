// The operator's commands as processes of their own, beside a running server.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDnsServer } from '../../tests/support/fake-servers/dns-server.ts'
import { openShell, towpath } from '../../tests/support/processes/command-shell.ts'
import { putLinkOnDomain } from '../../tests/support/server/verified-domain.ts'
import { atScale, full } from '../../tests/support/suite.ts'
import { until } from '../../tests/support/until.ts'
import { onBothEngines } from '../../tests/support/world.ts'

setDefaultTimeout(120_000)

onBothEngines('the command line beside a running server', (server) => {
  let shell: ReturnType<typeof openShell>
  beforeAll(() => {
    shell = openShell({
      DATA_DIR: server().dataDir,
      DATABASE_URL: server().databaseUrl,
      TOWPATH_URL: server().origin,
    })
  })
  afterAll(() => shell?.end())
  const run = (...words: string[]) => shell.run(...words)
  /** A command that succeeds prints to standard output alone. One that makes something names the data directory besides. */
  const printed = async (...words: string[]) => {
    const { code, out, err } = await run(...words)
    const place = words[1] === 'create' ? `Data directory: ${server().dataDir}\n` : ''
    expect([code, err]).toEqual([0, place])
    return out
  }
  const withKey = (key: string, path = '/v1/links') =>
    server().call(path, { headers: { Authorization: `Bearer ${key}` } })

  test('accepts no other secret while a server runs', async () => {
    const { code, out, err } = await run('secret', 'accept')
    const { node } = server().app.spool
    if (server().engine === 'postgres') {
      expect([code, out, err]).toEqual([1, '', `Stop all servers first: node ${node} runs.\n`])
    } else {
      expect([code, err]).toEqual([0, ''])
      expect(out).toContain('SQLite has one server')
    }
  })

  test('creates a workspace and a key that work at once, and revokes the key at once', async () => {
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
    const options = ['--scopes', 'links:read,forms:read', '--expires', '30d', '--name', 'report']
    await printed('key', 'create', '--workspace', String(made.id), ...options)
    const [, report] = (await printed('key', 'list', '--workspace', String(made.id))).split('\n')
    expect(JSON.parse(report as string)).toMatchObject({
      scopes: ['links:read', 'forms:read'],
      expiresAt: expect.stringMatching(/Z$/),
    })

    await printed('key', 'create', '--workspace', String(made.id), '--name', 'second')
    const listed = (await printed('key', 'list', '--workspace', String(made.id))).trimEnd().split('\n')
    const [first, , second] = listed.map((line) => JSON.parse(line))
    expect(first).toMatchObject({ name: 'command line', lastFour: key.slice(-4), revoked: false })
    expect(second).toMatchObject({ name: 'second', revoked: false })
    expect(listed.join()).not.toContain(key)

    expect(JSON.parse(await printed('key', 'revoke', String(first.id)))).toEqual({
      id: first.id,
      revoked: true,
    })
    expect((await withKey(key)).status).toBe(401)
  })

  test('adds a domain, verifies it for the running server, and removes it with its links', async () => {
    const dns = await startDnsServer()
    const asking = openShell({
      DATA_DIR: server().dataDir,
      DATABASE_URL: server().databaseUrl,
      TOWPATH_URL: 'https://links.host.example',
      DNS_SERVERS: dns.address,
    })
    const ask = async (...words: string[]) => {
      const { code, out, err } = await asking.run('domain', ...words)
      expect([words, code, err]).toEqual([words, 0, ''])
      return JSON.parse(out)
    }
    const ws = await server().createWorkspace()
    const place = ['--workspace', String(ws.id)]
    const name = `go.cli${ws.id}.example`
    const added = await ask('add', name.toUpperCase(), ...place)
    expect(added).toMatchObject({ domain: name, verified: false, dns: [{ type: 'TXT' }, { type: 'CNAME' }] })
    expect(await ask('verify', String(added.id))).toMatchObject({ verified: false })
    dns.set('TXT', `_towpath.${name}`, added.dns[0].value)
    expect(await ask('verify', String(added.id))).toMatchObject({ verified: true })
    await until('the running server to know the domain', () => server().app.domains.get(name))
    expect(await ask('list', ...place)).toMatchObject({ id: added.id, verified: true })
    await putLinkOnDomain(server(), ws, name, { slug: `moved${ws.id}` })
    const refused = await run('domain', 'remove', String(added.id))
    expect([refused.code, refused.out]).toEqual([1, ''])
    expect(refused.err).toStartWith(`${name} has 1 link, 0 of them in the trash.`)
    expect(await ask('remove', String(added.id), '--move-to', 'default')).toEqual({
      id: added.id,
      domain: name,
      removed: true,
    })
    await until('the running server to forget it', () => server().app.domains.get(name) === undefined)
    expect((await server().click(`moved${ws.id}`)).status).toBe(302)
    for (const [words, error] of [
      [['add', 'co.uk', ...place], 'domain: is a public suffix'],
      [['add', ...place], 'Name the domain'],
      [['verify', '999999'], 'Domain not found'],
      [['add', name, '--workspace', '999999'], 'Workspace not found'],
      [['remove', '1', '--move-to', 'x'], '--move-to must be a whole number'],
    ] as const) {
      const { code, err } = await run('domain', ...words)
      expect([words, code]).toEqual([words, 1])
      expect(err).toStartWith(error)
    }
    asking.end()
    await dns.stop()
  })

  test('changes a plan, which holds from the next request', async () => {
    const { id } = JSON.parse(await printed('workspace', 'create', 'Poor', '--plan', 'free'))
    const key = (await printed('key', 'create', '--workspace', String(id))).trim()
    expect((await withKey(key)).status).toBe(403)
    expect(JSON.parse(await printed('workspace', 'plan', String(id), 'Pro'))).toMatchObject({
      id,
      plan: 'pro',
    })
    expect((await withKey(key)).headers.get('x-ratelimit-limit')).toBe('30')
  })

  test('creates users, adds them to workspaces, and prints links to set a password', async () => {
    const { id } = JSON.parse(await printed('workspace', 'create', 'Boats'))
    const workspace = ['--workspace', String(id)]
    const link = new RegExp(`^${server().origin}/app/[\\w-]+\\?token=[\\w-]{43}$`)
    // Nobody owned it yet.
    const ada = JSON.parse(await printed('user', 'create', 'Ada@Example.com', ...workspace))
    expect(ada).toEqual({
      id: expect.any(Number),
      email: 'ada@example.com',
      name: 'ada',
      workspaceId: id,
      role: 'owner',
      url: expect.stringMatching(link),
    })
    const bob = JSON.parse(
      await printed('user', 'create', 'bob@example.com', ...workspace, '--name', 'Bob B'),
    )
    expect(bob).toMatchObject({ name: 'Bob B', role: 'member' })
    const cy = JSON.parse(await printed('user', 'create', 'cy@example.com'))
    expect(cy).toMatchObject({ workspaceId: null, role: null })

    const letIn = async (...words: string[]) =>
      JSON.parse(await printed('workspace', 'member', String(id), ...words))
    expect(await letIn('CY@example.com')).toMatchObject({ userId: cy.id, role: 'member' })
    expect(await letIn('cy@example.com', '--role', 'Owner')).toMatchObject({ role: 'owner' })
    expect(await letIn('cy@example.com')).toMatchObject({ role: 'owner' })
    expect(await letIn('ada@example.com', '--role', 'member')).toMatchObject({ role: 'member' })
    expect((await run('workspace', 'member', String(id), 'cy@example.com', '--role', 'member')).err).toBe(
      'A workspace needs an owner\n',
    )

    const none = await printed('user', 'reset-second-factor', 'Bob@example.com')
    expect(none).toBe('bob@example.com had no second factor.\n')
    await server().app.db.write((connection) =>
      connection
        .insertInto('totp_secrets')
        .values({ user_id: cy.id, secret: 'sealed', created_at: 1, confirmed_at: 1 })
        .execute(),
    )
    expect(await printed('user', 'reset-second-factor', 'cy@example.com')).toStartWith(
      'cy@example.com now signs in with only the password.',
    )
    expect((await run('user', 'reset-second-factor', 'no@example.com')).err).toBe('User not found\n')

    const reset = (await printed('user', 'reset', 'bob@example.com')).trimEnd()
    expect(reset).toMatch(link)
    expect(reset).not.toBe(bob.url)
    const verifications = await server().app.db.read.selectFrom('verifications').selectAll().execute()
    for (const url of [reset, bob.url, ada.url]) {
      expect(JSON.stringify(verifications)).not.toContain(new URL(url).searchParams.get('token') as string)
    }
    expect(await run('user', 'create', 'BOB@example.com')).toEqual({
      code: 1,
      out: '',
      err: 'There is a user bob@example.com already\n',
    })
    const fresh = ['user', 'create', 'new@example.com', '--workspace', String(id), '--role']
    expect(JSON.parse(await printed(...fresh, 'owner')).role).toBe('owner')
  })

  test('creates no user for an unknown workspace', async () => {
    expect(await run('user', 'create', 'lost@example.com', '--workspace', '999999')).toEqual({
      code: 1,
      out: '',
      err: 'Workspace not found\n',
    })
    expect((await run('user', 'reset', 'lost@example.com')).err).toBe('User not found\n')
    const { id } = JSON.parse(await printed('workspace', 'create', 'Empty'))
    const asMember = ['user', 'create', 'lost@example.com', '--workspace', String(id), '--role', 'member']
    expect((await run(...asMember)).err).toBe('A workspace needs an owner\n')
    expect((await run('user', 'reset', 'lost@example.com')).err).toBe('User not found\n')
  })

  test('reports unknown ids and addresses', async () => {
    for (const [words, message] of [
      [['workspace', 'member', '999999', 'nobody@example.com'], 'User not found'],
      [['workspace', 'plan', '999999', 'pro'], 'Workspace not found'],
      [['key', 'create', '--workspace', '999999'], 'Workspace not found'],
      [['key', 'list', '--workspace', '999999'], 'Workspace not found'],
      [['key', 'revoke', '999999'], 'API key not found'],
      [['verify', '999999'], 'Workspace not found'],
    ] as const) {
      expect(await run(...words)).toEqual({ code: 1, out: '', err: `${message}\n` })
    }
  })
})

const HELP = [[[]], [['help']], [['--help']], [['-h']]]

describe('the command line', () => {
  const inEmptyDir = async <T>(use: (dir: string) => Promise<T>) => {
    const dir = mkdtempSync(join(tmpdir(), 'towpath-test-'))
    try {
      return await use(dir)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  }

  full('runs as npm run -s towpath -- …, on an empty directory', async () => {
    await inEmptyDir(async (DATA_DIR) => {
      const npm = ['npm', 'run', '-s', 'towpath', '--']
      const made = await towpath({ DATA_DIR, DEFAULT_PLAN: 'scale' }, ['workspace', 'create', 'My team'], npm)
      expect([made.code, made.err]).toEqual([0, `New data directory: ${DATA_DIR}\n`])
      expect(JSON.parse(made.out)).toMatchObject({ id: 1, name: 'My team', plan: 'scale' })
      expect(await towpath({ DATA_DIR }, ['key', 'revoke', '7'], npm)).toEqual({
        code: 1,
        out: '',
        err: 'API key not found\n',
      })
    })
  })

  test('makes no second data directory where DATA_DIR was forgotten, and says which one to set', async () => {
    await inEmptyDir(async (cwd) => {
      const program = [join(import.meta.dir, '../../node_modules/.bin/bun'), join(import.meta.dir, 'main.ts')]
      const forgotten = (more: Record<string, string | undefined> = {}) =>
        towpath(more, ['workspace', 'create', 'My team'], program, cwd)
      for (const more of [{}, { DATABASE_URL: 'postgres://u@127.0.0.1:1/d' }]) {
        const { code, out, err } = await forgotten(more)
        expect([code, out]).toEqual([1, ''])
        expect(err).toStartWith(
          `No server has kept anything in ${join(cwd, 'data')}, and DATA_DIR is not set.`,
        )
        expect(readdirSync(cwd)).toEqual([])
      }
      // Somebody who means it names the directory, and then needs the name no more.
      expect((await forgotten({ DATA_DIR: './data' })).err).toBe(`New data directory: ${join(cwd, 'data')}\n`)
      expect((await forgotten()).err).toBe(`Data directory: ${join(cwd, 'data')}\n`)
      const mistyped = await towpath({ DATA_DIR: './dta' }, ['key', 'list', '--workspace', '1'], program, cwd)
      expect(mistyped.err).toStartWith(`No server has kept anything in ${join(cwd, 'dta')}. Set DATA_DIR`)
      expect(readdirSync(cwd)).toEqual(['data'])
    })
  })

  test.each(atScale({ quick: [[['help']]], full: HELP, soak: HELP }))(
    '%p explains itself and touches nothing',
    async (words) => {
      await inEmptyDir(async (DATA_DIR) => {
        const { code, out, err } = await towpath({ DATA_DIR }, words)
        expect([code, err]).toEqual([0, ''])
        for (const command of [
          'workspace create',
          'workspace plan',
          'workspace member',
          'user create',
          'user reset',
          'user reset-second-factor',
          'key create',
          'key revoke',
          'key list',
          'secret accept',
        ]) {
          expect(out).toContain(`\n  ${command} `)
        }
        expect(readdirSync(DATA_DIR)).toEqual([])
      })
    },
  )

  test('--help behind a command lists what begins with its word', async () => {
    await inEmptyDir(async (DATA_DIR) => {
      const { code, out, err } = await towpath({ DATA_DIR }, ['key', 'create', '--help'])
      expect([code, err]).toEqual([0, ''])
      expect(out.match(/^ {2}\S+ \S+/gm)).toEqual(['  key create', '  key list', '  key revoke'])
    })
  })

  describe('refuses wrong commands', () => {
    const dir = mkdtempSync(join(tmpdir(), 'towpath-test-'))
    let shell: ReturnType<typeof openShell>
    beforeAll(async () => {
      shell = openShell({ DATA_DIR: dir })
      await shell.run('workspace', 'create', 'First')
    })
    afterAll(async () => {
      await shell?.end()
      rmSync(dir, { recursive: true, force: true })
    })

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
      [['workspace', 'member', 'x', 'a@example.com'], 'The id of a workspace must be a whole number.'],
      [
        ['workspace', 'member', '1', 'a@example.com', '--role', 'admin'],
        'A role is one of owner, member, viewer.',
      ],
      [['workspace', 'member', '1'], 'A user is named by an email address.'],
      [['user', 'create', 'nobody'], 'A user is named by an email address.'],
      [['user', 'create', 'a@example.com', '--role', 'owner'], '--role needs --workspace'],
      [['user', 'create', 'a@example.com', '--workspace', 'x'], '--workspace must be a whole number.'],
      [['user', 'create', 'a@example.com', '--name', ' '], 'A user needs a name of 1 to 100 characters.'],
      [['user', 'reset', 'a@example.com', '--name', 'a'], '"user reset" has no option --name.'],
      [['key', 'create'], '--workspace must be a whole number.'],
      [['key', 'create', '--workspace', '1', '--name', ''], 'A key needs a name of 1 to 100 characters.'],
      [['key', 'create', '--workspace', '1', '--scopes', 'links:delete'], 'A scope is one of *, links:read,'],
      [['key', 'create', '--workspace', '1', '--expires', 'soon'], '--expires is a date'],
      [['key', 'create', '--workspace', '1', '--expires', '2020-01-01'], '--expires must be in the future.'],
      [['key', 'revoke'], 'The id of a key must be a whole number.'],
      [['key', 'revoke', '1e3'], 'The id of a key must be a whole number.'],
      [['key', 'create', '--colour', 'red'], "Unknown option '--colour'"],
      [['key', 'destroy'], 'There is no command "key destroy".'],
      [['constructor', ''], 'There is no command "constructor ".'],
      [['toString'], 'There is no command "toString".'],
    ])('%p is refused', async (words, message) => {
      const { code, out, err } = await shell.run(...words)
      expect([code, out]).toEqual([1, ''])
      expect(err).toStartWith(message)
    })
  })

  test('reports every wrong setting, and a database that does not answer', async () => {
    await inEmptyDir(async (DATA_DIR) => {
      const wrong = await towpath({ DATA_DIR, PORT: 'x', DEFAULT_PLAN: 'gold' }, ['workspace', 'create', 'A'])
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
  })

  test('names a path that cannot be used', async () => {
    await inEmptyDir(async (DATA_DIR) => {
      const target = join(import.meta.path, 'backup')
      await towpath({ DATA_DIR }, ['workspace', 'create', 'First'])
      const { code, out, err } = await towpath({ DATA_DIR }, ['backup', target])
      expect([code, out]).toEqual([1, ''])
      expect(err.trimEnd().split('\n').at(-1)).toMatch(
        / cannot be used: not a directory\. Name another path, or correct this one\.$/,
      )
    })
  })
})
