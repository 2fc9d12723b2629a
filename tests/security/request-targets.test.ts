// Requests are judged by their real target: dots are resolved before anybody decides, and a target with a host is for
// that host (RFC 9112 §3.2.2), whatever `Host` says. Every request goes to a running server as raw bytes.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { destroyRawClients, dialRaw, readStatuses } from '../support/raw-client.ts'
import { addVerifiedDomain, putLinkOnDomain } from '../support/server/verified-domain.ts'
import { atScale, quick } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { onSqlite, type TestServer, type TestWorkspace } from '../support/world.ts'

const [APP, OWN, UNKNOWN] = ['app.brand.example', 'go.brand.example', 'go.stranger.example']

afterAll(destroyRawClients)

async function ask(server: TestServer, bytes: string, cuts: number[] = []): Promise<string> {
  const client = await dialRaw(Number(new URL(server.origin).port))
  client.socket.setNoDelay(true)
  const pieces = [0, ...cuts].map((from, i) => bytes.slice(from, cuts[i]))
  for (const piece of pieces) {
    client.socket.write(piece, 'latin1')
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  await until('the end', () => client.ended)
  client.socket.destroy()
  return client.text
}

/** A request that ends its connection. */
const toBytes = (line: string, host: string, body = '', ...fields: string[]) =>
  [
    `${line} HTTP/1.1`,
    `Host: ${host}`,
    'Accept: application/json',
    'Connection: close',
    ...(body ? [`Content-Length: ${body.length}`] : []),
    ...fields,
    '',
    body,
  ].join('\r\n')

/** Status, place and body: what else there is may be new in each answer. */
const describeAnswer = (text: string) => {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  return `${readStatuses(text)} ${/^location: (.*)$/im.exec(head)?.[1] ?? ''} ${body}`
}

onSqlite(
  'a server',
  (server) => {
    let own: TestWorkspace
    let formKey: string
    const answer = async (line: string, host: string, body?: string, ...fields: string[]) =>
      describeAnswer(await ask(server(), toBytes(line, host, body, ...fields)))

    beforeAll(async () => {
      own = await server().createWorkspace()
      await addVerifiedDomain(server(), own.id, OWN)
      formKey = (await own.api('/forms', { method: 'POST', body: { name: 'Contact' } })).json.data.formKey
      await putLinkOnDomain(server(), own, OWN, { slug: 'own', destinationUrl: 'https://own.example/' })
      await putLinkOnDomain(server(), own, OWN, { slug: 'docs', destinationUrl: 'https://docs.example/' })
      await own.createLink({ slug: 'default', destinationUrl: 'https://default.example/' })
    })

    describe('resolves the dots of a target before it decides', () => {
      const PATHS = ['app', 'v1/links', 'docs', 'version', 'tls/ask', 'api/auth/get-session']
      const DOTS = ['/f/../', '/f/%2e%2e/', '/f/x/.%2E/%2e./', '/f\\..\\', '/f/..\\', '/e/../', '/thanks/../']
      const MORE_DOTS = ['/.well-known/x/../../', '/app/../', '/docs/../', '/x/../', '/./']

      /** The answer to each path behind dots, where it is not one of the expected answers. */
      async function findOthers(host: string, expect: (path: string) => Promise<string[]>) {
        const found: string[] = []
        for (const path of PATHS) {
          const expected = await expect(path)
          for (const dots of [...DOTS, ...MORE_DOTS]) {
            const given = await answer(`GET ${dots}${path}`, host)
            if (!expected.includes(given)) found.push(`${dots}${path}: ${given}`)
          }
        }
        return found
      }

      test('on a workspace’s domain such a path is what the resolved one is there: a link, or nothing', async () => {
        expect(await findOthers(OWN, async (path) => [await answer(`GET /${path}`, OWN)])).toEqual([])
      })

      test('on a host of nobody it is nothing', async () => {
        expect(await findOthers(UNKNOWN, async () => [await answer('GET /nothing', UNKNOWN)])).toEqual([])
      })

      test('on the default domain it is what the resolved one is there, or nothing', async () => {
        const missing = await answer('GET /tls/nothing', APP)
        expect(missing).toStartWith('404')
        expect(await findOthers(APP, async (path) => [await answer(`GET /${path}`, APP), missing])).toEqual(
          [],
        )
      })

      test('a link is found behind dots, and a form is not', async () => {
        const sent = await answer(
          `POST /x/../f/${formKey}`,
          OWN,
          'a=b',
          'Content-Type: application/x-www-form-urlencoded',
        )
        expect(sent).toStartWith('404')
        expect(await answer('GET /f/../own', OWN)).toStartWith('302 https://own.example/')
        expect(await answer('GET /f/./../default', APP)).toStartWith('302 https://default.example/')
      })
    })

    // Without the fast path, Bun drops the host of a target (docs/adr/0062-request-targets.md).
    describe.skipIf(process.env.FAST_PATH === 'off')('gives a target with a host to that host', () => {
      const FORM = ['Content-Type: application/x-www-form-urlencoded']
      const targets = (): [string, string, string?, ...string[]][] => [
        ['GET', '/own'],
        ['HEAD', '/own'],
        ['GET', '/default'],
        ['GET', '/default?utm_source=a'],
        ['GET', '/app'],
        ['GET', '/v1/openapi.json'],
        ['GET', '/f/../docs'],
        ['GET', '/t.js'],
        ['GET', ''],
        ['POST', `/f/${formKey}`, 'a=b', ...FORM],
        ['POST', `/f/${formKey}`, '{}', 'Content-Type: text/plain'],
        ['OPTIONS', `/f/${formKey}`],
        ['GET', '/nothing'],
      ]

      quick.each(atScale({ quick: ['HTTPS'], full: ['http', 'HTTPS'], soak: ['http', 'HTTPS'] }))(
        '%s, for every kind of request',
        async (scheme) => {
          const different: unknown[] = []
          for (const [method, path, ...rest] of targets())
            for (const host of [APP, OWN, UNKNOWN, `${OWN}:8443`, 'GO.Brand.Example', '127.0.0.1'])
              for (const sent of [APP, OWN, UNKNOWN, '@']) {
                const given = await answer(`${method} ${scheme}://${host}${path}`, sent, ...rest)
                const expected = await answer(`${method} ${path || '/'}`, host, ...rest)
                if (given !== expected) different.push({ method, path, host, sent, given, expected })
              }
          expect(different).toEqual([])
        },
      )

      test('wherever its bytes are cut, and after another request of the connection', async () => {
        const bytes = toBytes(`GET http://${OWN}/own`, APP)
        for (let at = 1; at < bytes.length; at++)
          expect([at, describeAnswer(await ask(server(), bytes, [at]))]).toEqual([
            at,
            '302 https://own.example/ ',
          ])
        for (const first of ['/default', '/nothing', '/livez']) {
          const request = `GET ${first} HTTP/1.1\r\nHost: ${APP}\r\n\r\n`
          const client = await dialRaw(Number(new URL(server().origin).port))
          client.socket.write(request)
          await until('the first answer', () => client.text.includes('\r\n\r\n'))
          client.socket.write(bytes)
          await until('the end', () => client.ended)
          expect(client.text).toContain('https://own.example/')
        }
      })

      test.each<[string, string]>([
        ['no host', toBytes('GET http:///own', OWN)],
        ['a user', toBytes(`GET http://user@${OWN}/own`, OWN)],
        ['a backslash', toBytes(`GET http://${OWN}\\@${APP}/own`, OWN)],
        ['a fragment', toBytes(`GET http://${OWN}#/own`, OWN)],
        ['two Host fields', toBytes(`GET http://${OWN}/own`, OWN, '', `Host: ${APP}`)],
        ['no Host field', `GET http://${OWN}/own HTTP/1.1\r\nConnection: close\r\n\r\n`],
        ['a folded Host', `GET http://${OWN}/own HTTP/1.1\r\nHost:\r\n ${APP}\r\nConnection: close\r\n\r\n`],
        [
          'a space before the colon',
          `GET http://${OWN}/own HTTP/1.1\r\nHost : ${APP}\r\nConnection: close\r\n\r\n`,
        ],
        ['a line feed in its line', `GET http://${OWN}/own\nHost: ${APP} HTTP/1.1\r\nHost: ${APP}\r\n\r\n`],
        ['a line feed in a field', toBytes(`GET http://${OWN}/own`, OWN, '', `X: y\nHost: ${APP}`)],
        ['more than a head may have', toBytes(`GET http://${OWN}/own`, OWN, '', `X: ${'y'.repeat(17_000)}`)],
        ['another scheme', toBytes(`GET ftp://${OWN}/own`, OWN)],
      ])('and refuses one with %s, with all that follows it', async (_, bytes) => {
        const hidden = toBytes('GET /default', APP)
        const text = await ask(server(), bytes + hidden)
        expect(text).not.toContain('example/')
        const statuses = readStatuses(text)
        expect(statuses.length).toBeLessThanOrEqual(1)
        for (const status of statuses) expect([400, 431]).toContain(status)
      })
    })
  },
  { environment: { TOWPATH_URL: `https://${APP}` } },
)
