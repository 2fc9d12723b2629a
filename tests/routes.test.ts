// docs/routes.md and the route map match the mounted routes, and every route enforces the facts that it declares.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isForPeople, isPersonal, type RouteFacts } from '../server/http/route-facts.ts'
import { listRoutes } from '../server/http/route-table.ts'
import { ROUTES_PAGE, routesPage } from './support/routes-page.ts'
import { quick } from './support/suite.ts'
import { createTeam, type Team } from './support/users/signed-in-user.ts'
import { startServer, type TestServer } from './support/world.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const OPEN: Pick<RouteFacts, 'by'> = { by: 'anybody' }

let server: TestServer
let own: Team
beforeAll(async () => {
  server = await startServer('sqlite')
  own = await createTeam(server)
})
afterAll(() => server?.close())

test('docs/routes.md is what `npm run docs:routes` writes', async () => {
  expect(await Bun.file(ROUTES_PAGE).text()).toBe(await routesPage())
})

describe('the route map', () => {
  const front = () => server.app.map.filter(([by]) => by === 'anybody')

  test('has every mounted path; other paths answer 404 and are reserved slugs', async () => {
    const { app } = server
    const mapped = app.map.map(([, , path]) => path)
    expect(Object.keys(app.serve.routes)).toEqual(expect.arrayContaining(mapped))
    const others = Object.keys(app.serve.routes).filter((path) => !mapped.includes(path))
    expect(others.filter((path) => !app.site.reserved.has(path.slice(1)))).toEqual([])
    for (const path of others) expect([path, (await server.call(path)).status]).toEqual([path, 404])
    const pages = listRoutes(app.routes.pages).map(({ path }) => path.replace(/^\/docs\/.+/, '/docs/:file'))
    expect(pages.filter((path) => !mapped.includes(path))).toEqual([])
  })

  test('has nothing but links, forms and the snippet on domains of workspaces', () => {
    const onEvery = server.app.map.filter(([, , , , , hosts]) => hosts === 'every domain')
    expect(onEvery.filter(([by]) => by !== 'anybody')).toEqual([])
    // A new line here is a decision: docs/adr/0042-hosts.md.
    const answering = [
      '/:slug',
      '/f',
      '/f/*',
      '/f/logo/*',
      '/thanks',
      '/t.js',
      '/e/:file',
      '/e',
      '/e/forms',
      '/',
      '/robots.txt',
    ]
    expect(onEvery.map(([, , path]) => path)).toEqual([...answering, '/favicon.ico', '/.well-known/*'])
    const first = onEvery
      .map(([, , path]) => path.split('/')[1] as string)
      .filter((name) => /^[^:]/.test(name))
    expect(first.filter((name) => !server.app.site.reservedOnDomains.has(name))).toEqual([])
  })

  test('names files that exist', () => {
    const missing = server.app.map.filter(
      ([, , , , file]) => !existsSync(join(import.meta.dir, '../server', file)),
    )
    expect(missing).toEqual([])
  })

  test('lists the methods of each path', async () => {
    for (const [, methods, path] of front()) {
      const url = path.replace('/:slug', '/no-such-link').replace(':file', 'x').replace('*', 'x')
      for (const method of METHODS.filter((one) => !methods.includes(one))) {
        const { status } = await server.call(url, { method })
        expect([method, path, status === 404 || status === 405]).toEqual([method, path, true])
      }
    }
  })
})

describe('who may call a route', () => {
  const routes = () => {
    const { rest, signIn, mail } = server.app.routes
    return listRoutes([...rest, ...signIn, ...mail]).map(({ method, path, facts }) => {
      return { method, path: path.replace(/:\w+/g, '123456'), facts: facts ?? OPEN }
    })
  }
  const send = (method: string, path: string, headers: Record<string, string> = {}) =>
    // A stream has no end of its own.
    server.call(path.endsWith('/live') ? `${path}?seconds=0` : path, {
      method,
      headers,
      ...(/^P/.test(method) && { body: {} }),
    })

  test('without credentials every route answers 401, unless it is public', async () => {
    expect(routes().length).toBeGreaterThan(70)
    for (const { method, path, facts } of routes()) {
      const { status } = await send(method, path)
      expect([method, path, status === 401]).toEqual([method, path, facts.by !== 'anybody'])
    }
  })

  quick('an API key gets 403 from routes for people', async () => {
    for (const { method, path, facts } of routes()) {
      if (!path.startsWith('/v1/') || facts.by === 'anybody') continue
      const { status } = await send(method, path, { Authorization: `Bearer ${own.key}` })
      expect([method, path, status === 403]).toEqual([method, path, isForPeople(facts)])
    }
  })

  test('a name in a path is no id, so other methods are not allowed', async () => {
    const { status, headers } = await own.owner.api('/invitations/accept', { method: 'DELETE' })
    expect([status, headers.get('allow')]).toEqual([405, 'POST'])
  })

  test('a person must name a workspace, unless the route needs none', async () => {
    for (const { method, path, facts } of routes()) {
      if (!path.startsWith('/v1/') || facts.by === 'anybody') continue
      const { json } = await own.owner.api(path.slice('/v1'.length), {
        method,
        ...(/^P/.test(method) && { body: {} }),
      })
      const needsWorkspace = Object.keys(json.errors ?? {}).includes('X-Workspace')
      expect([method, path, needsWorkspace]).toEqual([method, path, !isPersonal(facts)])
    }
  })
})
