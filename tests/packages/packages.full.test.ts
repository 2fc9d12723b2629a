// The npm packages as somebody else uses them: packed, installed from their tarballs, type checked, rendered on a server
// without a window, and bundled for a page in a real browser that sends to a real server.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/architecture/read-checkout.ts'
import { onCustomerSite } from '../support/browser/customer-site.ts'
import { until } from '../support/until.ts'
import { onSqlite } from '../support/world.ts'
import { createPackedProject, type PackedProject } from './packed-project.ts'

let project: PackedProject
beforeAll(async () => {
  project = await createPackedProject()
})
afterAll(() => project?.close())

test('the tarballs have the bundle, its types, the licence and a page, and depend on nothing', async () => {
  for (const name of ['snippet', 'react', 'sdk']) {
    const folder = join(project.dir, 'node_modules/@towpath', name)
    const files = [...new Bun.Glob('**').scanSync({ cwd: folder })].sort()
    expect(files).toEqual(['LICENSE', 'README.md', 'dist/index.d.ts', 'dist/index.js', 'package.json'])
    const { version, license, dependencies } = await Bun.file(join(folder, 'package.json')).json()
    const root = await Bun.file(join(ROOT, 'package.json')).json()
    expect([version, license, dependencies]).toEqual([root.version, 'MIT', undefined])
  }
})

test('their types accept what the pages show, and refuse mistakes', async () => {
  await Bun.write(
    join(project.dir, 'use.tsx'),
    `import { createTowpath } from '@towpath/snippet'
     import { type TowpathForm, useForm } from '@towpath/react'
     import { type Link, NotFoundError, Towpath } from '@towpath/sdk'
     const api = new Towpath({ url: 'https://go.example', apiKey: 'tp_x' })
     export async function use(): Promise<Link> {
       // @ts-expect-error: the destination is needed
       api.createLink({ slug: 'a' })
       // @ts-expect-error: no such parameter
       api.listLinks({ colour: 'red' })
       // @ts-expect-error: no such status
       api.updateSubmission({ id: 1, status: 'gone' })
       for await (const { slug, tags } of api.listLinks({ tagId: [1, 2], archived: true })) slug.concat(tags[0]?.name ?? '')
       for await (const { data, after } of api.listLinkClicks({ id: 1 }).pages()) after.concat(data[0]?.country ?? '')
       const file: Response = await api.exportClicks({ format: 'csv', start: new Date() })
       await api.createImport({ body: new FormData() }).catch((error) => error instanceof NotFoundError && error.requestId)
       return api.createLink({ destinationUrl: await file.text(), expiresAt: null, geoTargeting: { DE: 'https://example.de/' } })
     }
     const towpath = createTowpath({ origin: 'https://go.example', workspace: 'ws_1' })
     export const undo: () => void = towpath.enhance(document.forms[0] as HTMLFormElement)
     addEventListener('towpath:progress', () => towpath.track())
     document.addEventListener('towpath:progress', ({ detail }) => detail.sent.toFixed())
     // @ts-expect-error: the server's address is needed
     createTowpath({ workspace: 'ws_1' })
     // @ts-expect-error: not a form
     towpath.enhance(document.body)
     export function Contact() {
       const form: TowpathForm = useForm('k7m2xw9qpd', { origin: 'https://go.example' })
       // @ts-expect-error: no such state
       form.sent
       const email: string | undefined = form.errors['email']
       void form.submit({ email: 'a', cv: new Blob(), many: ['a', 'b'], n: 1 })
       return <form action={form.endpoint} method="post" ref={form.ref} onSubmit={form.handleSubmit}>{email}{form.progress?.sent}</form>
     }`,
  )
  await Bun.write(
    join(project.dir, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        jsx: 'react-jsx',
        module: 'Preserve',
        moduleResolution: 'bundler',
        target: 'ESNext',
        lib: ['ESNext', 'DOM'],
        types: [],
        skipLibCheck: false,
      },
      files: ['use.tsx'],
    }),
  )
  project.run([join(ROOT, 'node_modules/.bin/tsc'), '-p', '.'])
})

test.each(['node', 'bun'])('they render on a server without a window: %s', async (program) => {
  await Bun.write(
    join(project.dir, 'render.js'),
    `import { createElement } from 'react'
     import { renderToString } from 'react-dom/server'
     import { createTowpath } from '@towpath/snippet'
     import { useForm } from '@towpath/react'
     createTowpath({ origin: 'https://go.example', workspace: 'ws_1' })
     function Contact() {
       const { endpoint, handleSubmit, submitting, ref } = useForm('https://go.example/f/k7m2xw9qpd', { workspace: 'ws_1' })
       return createElement('form', { action: endpoint, method: 'post', onSubmit: handleSubmit, ref }, String(submitting))
     }
     console.log(typeof window, renderToString(createElement(Contact)))`,
  )
  const html = '<form action="https://go.example/f/k7m2xw9qpd" method="post">false</form>'
  expect(project.run([program === 'bun' ? process.execPath : program, 'render.js'])).toBe(
    `undefined ${html}\n`,
  )
})

onSqlite('the recipes of @towpath/sdk', (server) => {
  const readme = readFileSync(join(ROOT, 'packages/sdk/README.md'), 'utf8')
  const [setup = '', ...recipes] = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map(
    ([, code]) => code as string,
  )

  test.each(['node', 'bun'])('run as they stand: %s', async (program) => {
    expect(recipes).toHaveLength(10)
    const { key } = await server().createWorkspace()
    const start = setup.replace('https://go.example', server().origin)
    for (const [n, recipe] of recipes.entries()) {
      await Bun.write(join(project.dir, `recipe-${n}.js`), `${start}\n${recipe}`)
      const path = program === 'bun' ? process.execPath : program
      const child = Bun.spawn([path, `recipe-${n}.js`], {
        cwd: project.dir,
        env: { PATH: process.env.PATH, TOWPATH_API_KEY: key },
        stderr: 'pipe',
      })
      const errors = await new Response(child.stderr).text()
      expect([recipe, await child.exited, errors]).toEqual([recipe, 0, ''])
    }
  })
})

const toReactApp = (target: string) => `
  import { StrictMode, createElement as h } from 'react'
  import { createRoot } from 'react-dom/client'
  import { useForm } from '@towpath/react'
  function Contact() {
    const form = useForm(${target})
    if (form.progress) (window.progress ??= []).push(form.progress)
    return h('form', { action: form.endpoint, method: 'post', onSubmit: form.handleSubmit, ref: form.ref },
      h('input', { name: 'email' }), h('output', { id: 'email' }, form.errors.email),
      h('input', { name: 'cv', type: 'file' }), h('output', { id: 'cv' }, form.errors.cv),
      h('p', { id: 'state' }, form.submitting ? 'busy' : form.succeeded ? form.successMessage : 'idle'),
      h('p', { role: 'alert' }, form.error),
      h('button', null, 'Send'), h('button', { type: 'button', id: 'again', onClick: form.reset }, 'Again'))
  }
  createRoot(document.querySelector('#app')).render(h(StrictMode, null, h(Contact)))`

onCustomerSite('@towpath/react', (site) => {
  const open = async (formKey: string, options: object = {}) => {
    const target = `'${formKey}', ${JSON.stringify({ origin: site().server.origin, ...options })}`
    const script = await project.bundle('app.js', toReactApp(target))
    const visitor = await site().openVisitor()
    await visitor.page.goto(site().addPage(`<div id="app"></div>${script}`))
    await visitor.page.locator('form').waitFor()
    return visitor
  }

  test('shows errors by field, then success, and sends a double click once in StrictMode', async () => {
    const ws = await site().createWorkspace()
    const form = await ws.createForm({ requiredFields: ['email'], successMessage: 'We call you.' })
    const { page, errors, close } = await open(form.key, { workspace: ws.publicId })
    await page.click('button')
    await page.locator('#email', { hasText: 'This field is required' }).waitFor()
    await page.fill('[name=email]', 'ada@example.com')
    await page.evaluate(`for (let i = 0; i < 2; i++) document.querySelector('button').click()`)
    await page.locator('#state', { hasText: 'We call you.' }).waitFor()
    expect(await page.inputValue('[name=email]')).toBe('')
    expect(await page.locator('#email').textContent()).toBe('')
    const stored = await ws.listSubmissions(form.key)
    expect(stored).toMatchObject([{ fields: { email: 'ada@example.com' }, sessionLinked: true }])
    await page.click('#again')
    await page.locator('#state', { hasText: 'idle' }).waitFor()
    expect(errors).toEqual([])
    await close()
  })

  test('sends the captcha’s token, and tells when the server cannot be reached', async () => {
    const ws = await site().createWorkspace()
    const form = await ws.createForm({ captcha: true })
    const { page, context, close } = await open(form.key)
    await context.route(form.endpoint, (route) => route.abort())
    await page.fill('[name=email]', 'ada@example.com')
    await page.click('button')
    await page.locator('[role=alert]', { hasText: 'could not be sent' }).waitFor()
    expect(await page.inputValue('[name=email]')).toBe('ada@example.com')
    await context.unroute(form.endpoint)
    await page.click('button')
    await page.locator('#state', { hasText: 'Thank' }).waitFor()
    expect(await ws.listStoredFields(form.key)).toEqual([{ email: 'ada@example.com' }])
    await close()
  })

  test('checks files, and tells how much of them is sent', async () => {
    const ws = await site().createWorkspace()
    const form = await ws.createForm({ uploads: { maxFiles: 1, maxBytes: 400_000, accept: ['.txt'] } })
    const { page, errors, close } = await open(form.key)
    const choose = (name: string, bytes: number) =>
      page.setInputFiles('[name=cv]', { name, mimeType: 'text/plain', buffer: Buffer.alloc(bytes, 'a') })
    await choose('cv.txt', 400_001)
    await page.click('button')
    await page.locator('#cv', { hasText: 'too large' }).waitFor()
    await choose('cv.txt', 400_000)
    await page.click('button')
    await page.locator('#state', { hasText: 'Thank' }).waitFor()
    const progress = await page.evaluate<{ sent: number; total: number }[]>('progress')
    expect(progress.at(-1)?.sent).toBe(progress.at(-1)?.total as number)
    expect(await ws.listStoredFields(form.key)).toEqual([{ email: '', cv: 'cv.txt' }])
    expect(errors).toEqual([])
    await close()
  })
})

onCustomerSite('@towpath/snippet', (site) => {
  test('takes care of a form of a router, lets go of it, and reports each page', async () => {
    const ws = await site().createWorkspace()
    const form = await ws.createForm({ requiredFields: ['email'], redirectUrl: `${site().origin}/thanks` })
    const script = await project.bundle(
      'spa.js',
      `import { createTowpath } from '@towpath/snippet'
       const towpath = createTowpath(${JSON.stringify({ origin: site().server.origin, workspace: ws.publicId })})
       towpath.track()
       window.show = () => {
         document.querySelector('main').innerHTML =
           '<form action="${form.endpoint}" method="post"><input name="email"><button>Send</button></form>'
         window.undo = towpath.enhance(document.querySelector('form'))
       }
       window.go = (path) => { history.pushState(null, '', path); towpath.track() }`,
    )
    const visitor = await site().openVisitor()
    const { page } = visitor
    await page.goto(`${site().addPage(`<main></main>${script}`)}?utm_source=news`)
    const described = page.waitForResponse(/\/forms\?keys=/)
    await page.evaluate(`go('/contact'), show()`)
    await (await described).finished()
    await page.click('button')
    await page.locator('[name=email][aria-invalid]').waitFor()
    await page.fill('[name=email]', 'ada@example.com')
    await page.click('button')
    await page.locator('[role=status]', { hasText: 'Thank' }).waitFor()
    expect(await ws.listSubmissions(form.key)).toMatchObject([{ utmSource: 'news', sessionLinked: true }])
    const { pageUrl } = (await ws.listSubmissions(form.key))[0]
    expect(pageUrl).toBe(`${site().origin}/contact`)
    await page.evaluate('undo()')
    expect(await page.locator('[role=status]').count()).toBe(0)
    await page.fill('[name=email]', 'ben@example.com')
    await page.click('button')
    await page.waitForURL(`${site().origin}/thanks`)
    await until('both', async () => (await ws.listStoredFields(form.key)).length === 2)
    expect(visitor.errors).toEqual([])
    await visitor.close()
  })
})
