// The recipes on /docs/recipes run as they stand, with nothing but a key: in the shell, as TypeScript, and as Python.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDnsServer } from '../support/fake-servers/dns-server.ts'
import { startWebhookReceiver } from '../support/fake-servers/webhook-receiver.ts'
import { findFreePort } from '../support/processes/free-port.ts'
import { until } from '../support/until.ts'
import { startServer, type TestServer, type TestWorkspace } from '../support/world.ts'

const python = Bun.which('python3')
const LANGUAGES = [
  { language: 'sh', program: ['bash'], missing: '' },
  { language: 'ts', program: [process.execPath], missing: '' },
  {
    language: 'py',
    program: [python ?? 'python3'],
    missing: python ? '' : ' (skipped: there is no python3)',
  },
] as const

const dns = await startDnsServer()

describe('the recipes', () => {
  let server: TestServer
  let own: TestWorkspace
  const dir = mkdtempSync(join(tmpdir(), 'towpath-recipes-'))
  let page = ''

  beforeAll(async () => {
    server = await startServer('sqlite', {
      environment: { WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', DNS_SERVERS: dns.address },
    })
    own = await server.createWorkspace()
    page = (await server.call('/docs/recipes')).text
  })
  afterAll(async () => {
    await server?.close()
    await dns.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  /** The code of a recipe, as a browser would copy it from the page. */
  function copy(id: string, language: string): string {
    const section = page.split('<section').find((each) => each.includes(`id="${id}"`)) ?? ''
    const [, code = ''] = new RegExp(`class="${language}">.*?<code>([^<]*)</code>`, 's').exec(section) ?? []
    const text = code.replace(/&(lt|gt|quot|amp);/g, (_, name: string) => ENTITIES[name] as string)
    if (text === '') throw new Error(`the page has no recipe ${id} in ${language}`)
    return text
  }

  async function spawn(id: string, { language, program }: (typeof LANGUAGES)[number], env: object) {
    const file = join(dir, `${id}.${language}`)
    await Bun.write(file, copy(id, language))
    return Bun.spawn([...program, file], {
      cwd: dir,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, KEY: own.key, ...env },
      stdout: 'pipe',
      stderr: 'pipe',
    })
  }

  async function run(id: string, how: (typeof LANGUAGES)[number], env: object = {}) {
    const child = await spawn(id, how, env)
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    expect({ code: await child.exited, err }).toEqual({ code: 0, err: '' })
    return out
  }

  describe.each(LANGUAGES.map((how) => [how.language + how.missing, how] as const))('in %s', (_, how) => {
    const runs = test.skipIf(how.missing !== '')

    runs('make a link that redirects', async () => {
      const shortUrl = /https?:\/\/[^"\s]+\/[\w-]+(?="|\s|$)/g
      const out = await run('make-a-link', how)
      const url = how.language === 'sh' ? JSON.parse(out).data.shortUrl : (out.match(shortUrl)?.[0] ?? '')
      const answer = await server.click(new URL(url).pathname.slice(1))
      expect(answer.headers.get('location')).toBe('https://example.com/sale')
    })

    runs('change the same link by its external id, however often', async () => {
      const before = (await own.api('/links?externalId=product-17')).json.total
      const out = await run('make-or-change-a-link-by-your-own-id', how)
      if (how.language !== 'sh') expect(out).toStartWith(before === 0 ? 'made' : 'changed')
      expect((await own.api('/links?externalId=product-17')).json.total).toBe(1)
    })

    runs('read the clicks of each link', async () => {
      const { slug } = await own.createLink()
      await server.click(slug)
      await server.waitUntilShipped()
      const out = await run('read-clicks', how)
      expect(out).toMatch(
        how.language === 'sh' ? new RegExp(`"slug":"${slug}"`) : new RegExp(`^${slug} 1 1$`, 'm'),
      )
    })

    runs('make a form and read what is sent to it', async () => {
      const made = await run('make-a-form', how)
      const endpoint = how.language === 'sh' ? JSON.parse(made).data.endpoint : made.trim()
      const email = `${how.language}@example.com`
      const body = JSON.stringify({ email, message: 'Hello' })
      const headers = { 'Content-Type': 'application/json' }
      expect((await fetch(endpoint, { method: 'POST', headers, body })).status).toBe(200)
      const out = await run('read-submissions', how)
      expect(out).toContain(email)
      expect(out).toContain('Hello')
    })

    runs('add a domain, and verify it once its records are set', async () => {
      const added = await run('add-a-domain', how)
      const [domain] = (await own.api('/domains')).json.data
      const env = { ID: String(domain.id) }
      expect(await run('verify-a-domain', how, env)).toContain('no TXT record')
      for (const { type, name, value } of domain.dns) {
        for (const text of [type, name, value]) expect(added).toContain(text)
        dns.set(type, name, value)
      }
      const out = await run('verify-a-domain', how, env)
      expect(out).toContain(how.language === 'sh' ? '"verified":true' : 'links.brand.example is verified')
      for (const { type, name } of domain.dns) dns.set(type, name)
      await own.api(`/domains/${domain.id}`, { method: 'DELETE' })
    })
  })

  async function createChannel(url: string) {
    const { json } = await own.api('/channels', {
      method: 'POST',
      body: { type: 'webhook', name: 'CRM', url },
    })
    return { id: json.data.id as number, secret: json.data.secret as string }
  }
  const sendTest = async (id: number) =>
    (await own.api(`/channels/${id}/test`, { method: 'POST' })).json.data.status

  describe.each(LANGUAGES.slice(1).map((how) => [how.language + how.missing, how] as const))(
    'in %s',
    (_, how) => {
      test.skipIf(how.missing !== '')(
        'a receiver of webhooks takes what we send, and nothing else',
        async () => {
          const port = findFreePort()
          const url = `http://127.0.0.1:${port}/hook`
          const { id, secret } = await createChannel(url)
          const child = await spawn('verify-a-webhook', how, { SECRET: secret, PORT: String(port) })
          try {
            const forged = {
              'webhook-id': 'msg_1',
              'webhook-timestamp': String(Math.floor(server.now() / 1000)),
            }
            const headers = { ...forged, 'webhook-signature': 'v1,AAAA' }
            const post = () => fetch(url, { method: 'POST', headers, body: '{}' }).catch(() => undefined)
            expect((await until('the receiver', post)).status).toBe(401)
            expect(await sendTest(id)).toBe('delivered')
            const read = child.stdout.getReader()
            expect(new TextDecoder().decode((await read.read()).value).trim()).not.toBe('')
          } finally {
            child.kill()
            await child.exited
          }
        },
      )
    },
  )

  test('in sh: a signature is verified with openssl, and a changed body is refused', async () => {
    const receiver = startWebhookReceiver()
    try {
      const { id, secret } = await createChannel(receiver.url)
      expect(await sendTest(id)).toBe('delivered')
      const { headers, body } = receiver.requests[0] as (typeof receiver.requests)[0]
      const env = {
        SECRET: secret,
        ID: headers['webhook-id'],
        TIMESTAMP: headers['webhook-timestamp'],
        SIGNATURE: headers['webhook-signature'],
      }
      await Bun.write(join(dir, 'body.json'), body)
      expect(await run('verify-a-webhook', LANGUAGES[0], env)).toBe('genuine\n')
      await Bun.write(join(dir, 'body.json'), body.replace('{', '{ '))
      const child = await spawn('verify-a-webhook', LANGUAGES[0], env)
      expect(await child.exited).toBe(1)
    } finally {
      await receiver.stop()
    }
  })
})

const ENTITIES: Record<string, string> = { lt: '<', gt: '>', quot: '"', amp: '&' }
