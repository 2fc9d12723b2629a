// The examples of docs/forms.md for the npm packages and for frameworks, as they stand there: built by the framework,
// served, and sent in a real browser. Svelte, React and the module run in `npm test`; Next, Astro and Hugo take long and
// run in the soak.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'
import { onCustomerSite, type SiteWorkspace } from '../support/browser/customer-site.ts'
import { getCodeBlock, readCodeBlocks } from '../support/code-blocks.ts'
import { ensurePackages } from '../support/packages/cached-packages.ts'
import { installPackage } from '../support/processes/debian-package.ts'
import { findFreePort } from '../support/processes/free-port.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { createPackedProject, type PackedProject } from './packed-project.ts'

const page = await readCodeBlocks('docs/forms.md')
const INSTALL_MS = 900_000
const SENT = { email: 'ada@example.com', message: 'Hello' }

let project: PackedProject
const folders: string[] = []
beforeAll(async () => {
  project = await createPackedProject()
}, INSTALL_MS)
afterAll(() => {
  project?.close()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

async function fillIn(on: Page) {
  for (const [name, value] of Object.entries(SENT)) await on.fill(`[name=${name}]`, value)
}

/** A folder beside the packages of a framework, with the files that the page names. */
async function createFolder(home: string, files: Record<string, string>): Promise<string> {
  const folder = mkdtempSync(join(home, 'project-'))
  folders.push(folder)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    await Bun.write(join(folder, path), text)
  }
  return folder
}

async function run(cwd: string, command: string[]) {
  const child = Bun.spawn(command, {
    cwd,
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', ASTRO_TELEMETRY_DISABLED: '1', CI: '1' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${command.join(' ')} failed:\n${output}${errors}`)
}

function serveFolder(folder: string) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const file = Bun.file(join(folder, pathname.endsWith('/') ? `${pathname}index.html` : pathname))
      return (await file.exists()) ? new Response(file) : new Response('', { status: 404 })
    },
  })
  return { origin: `http://localhost:${server.port}`, close: () => server.stop(true) }
}

onCustomerSite('the examples of docs/forms.md', (site) => {
  const create = async (fields: object = {}) => {
    const ws = await site().createWorkspace()
    return { ws, form: await ws.createForm({ requiredFields: ['email', 'message'], ...fields }) }
  }
  /** The example with a real form, a real server and a real workspace. */
  const fit = (code: string, { endpoint }: { endpoint: string }, { publicId }: SiteWorkspace) =>
    code
      .replaceAll('https://go.example/f/k7m2xw9qpd', endpoint)
      .replaceAll('https://go.example', site().server.origin)
      .replaceAll('ws_…', publicId)
  const fileOf = (path: string, language: string) => getCodeBlock(page, path, language)

  test('the module: takes care of the forms of the page', async () => {
    const { ws, form } = await create()
    const code = fit(getCodeBlock(page, 'As an npm package', 'js'), form, ws)
    const visitor = await site().openVisitor()
    const html = `<form action="${form.endpoint}" method="post"><input name="email"><input name="message"><button>Send</button></form>`
    await site().open(visitor, site().addPage(html + (await project.bundle('module.js', code))))
    await fillIn(visitor.page)
    await visitor.page.click('button')
    await visitor.page.getByText('Thank').waitFor()
    expect(await ws.listSubmissions(form.key)).toMatchObject([{ fields: SENT, sessionLinked: true }])
    expect(visitor.errors).toEqual([])
    await visitor.close()
  })

  test('React: errors at their fields, and a file', async () => {
    const { ws, form } = await create({ uploads: {} })
    await Bun.write(join(project.dir, 'contact-form.jsx'), fit(getCodeBlock(page, 'React', 'jsx'), form, ws))
    const script = await project.bundle(
      'react.jsx',
      `import { createRoot } from 'react-dom/client'
       import { ContactForm } from './contact-form.jsx'
       createRoot(document.querySelector('#app')).render(<ContactForm />)`,
    )
    const visitor = await site().openVisitor()
    await visitor.page.goto(site().addPage(`<div id="app"></div>${script}`))
    await fillIn(visitor.page)
    // The browser takes this address, and the server does not.
    await visitor.page.fill('[name=email]', 'ada@example')
    await visitor.page.setInputFiles('[name=cv]', {
      name: 'cv.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('Ada'),
    })
    await visitor.page.click('button')
    await visitor.page.locator('[role=alert]', { hasText: 'valid email' }).waitFor()
    await visitor.page.fill('[name=email]', SENT.email)
    await visitor.page.click('button')
    await visitor.page.locator('[role=status]', { hasText: 'Thank' }).waitFor()
    expect(await ws.listStoredFields(form.key)).toEqual([{ ...SENT, cv: 'cv.txt' }])
    expect(visitor.errors).toEqual([])
    await visitor.close()
  })

  test(
    'Svelte: the form is enhanced when Svelte draws it, and let go of',
    async () => {
      const home = ensurePackages('svelte-5.57.3', ['svelte@5.57.3'])
      const { ws, form } = await create()
      const folder = await createFolder(home, {
        'src/ContactForm.svelte': fit(fileOf('src/ContactForm.svelte', 'svelte'), form, ws),
        'main.js': `import { mount, unmount } from 'svelte'
          import ContactForm from './src/ContactForm.svelte'
          const shown = mount(ContactForm, { target: document.querySelector('#app') })
          window.leave = () => unmount(shown)`,
      })
      cpSync(join(project.dir, 'node_modules/@towpath'), join(folder, 'node_modules/@towpath'), {
        recursive: true,
      })
      const visitor = await site().openVisitor()
      const html = `<div id="app"></div>${await bundleSvelte(home, join(folder, 'main.js'))}`
      await site().open(visitor, site().addPage(html))
      await fillIn(visitor.page)
      await visitor.page.click('button')
      await visitor.page.getByText('Thank').waitFor()
      expect(await ws.listSubmissions(form.key)).toMatchObject([{ fields: SENT, sessionLinked: true }])
      await visitor.page.evaluate('leave()')
      expect(await visitor.page.locator('form').count()).toBe(0)
      expect(visitor.errors).toEqual([])
      await visitor.close()
    },
    INSTALL_MS,
  )

  describe.if(atScale({ full: false, soak: true }))('in the soak', () => {
    test(
      'Next: a plain form, the snippet on every page, and the hook in a component',
      async () => {
        const version = '16.4.6'
        const home = ensurePackages(`next-${version}`, [
          `next@${version}`,
          'react@19.3.1',
          'react-dom@19.3.1',
        ])
        const { ws, form } = await create({ uploads: {} })
        const write = (path: string) => fit(fileOf(path, 'jsx'), form, ws)
        const folder = await createFolder(home, {
          'package.json': '{"private":true}',
          'next.config.mjs': `export default { turbopack: { root: ${JSON.stringify(home)} } }`,
          'app/layout.jsx': write('app/layout.jsx'),
          'app/contact/page.jsx': write('app/contact/page.jsx').replace(
            'https://example.com/thanks',
            `${site().origin}/thanks`,
          ),
          'app/ask/page.jsx': write('app/ask/page.jsx'),
          'app/ask/contact-form.jsx': `'use client'\n${fit(getCodeBlock(page, 'React', 'jsx'), form, ws)}`,
        })
        cpSync(join(project.dir, 'node_modules/@towpath'), join(folder, 'node_modules/@towpath'), {
          recursive: true,
        })
        const next = join(home, 'node_modules/.bin/next')
        await run(folder, [next, 'build'])
        const port = findFreePort()
        const server = Bun.spawn([next, 'start', '-p', String(port)], { cwd: folder, stdout: 'ignore' })
        const origin = `http://localhost:${port}`
        try {
          await until('Next', async () => (await fetch(`${origin}/contact`).catch(() => undefined))?.ok)
          // Rendered on the server: the hook's form has its address without a script.
          expect(await (await fetch(`${origin}/ask`)).text()).toContain(`action="${form.endpoint}"`)
          const visitor = await site().openVisitor()
          for (const path of ['/contact', '/ask']) {
            const described = visitor.page.waitForResponse(/\/forms\?keys=/)
            await visitor.page.goto(origin + path)
            await (await described).finished()
            await fillIn(visitor.page)
            await visitor.page.click('button')
            await visitor.page.getByText('Thank').waitFor()
          }
          expect(await ws.listSubmissions(form.key)).toMatchObject([
            { fields: SENT, sessionLinked: true },
            { fields: SENT, sessionLinked: true },
          ])
          expect(visitor.errors).toEqual([])
          await visitor.close()
        } finally {
          server.kill()
          await server.exited
        }
      },
      INSTALL_MS,
    )

    test(
      'Astro: a page with the snippet',
      async () => {
        const version = '7.3.5'
        const home = ensurePackages(`astro-${version}`, [`astro@${version}`])
        const { ws, form } = await create()
        const folder = await createFolder(home, {
          'package.json': '{"private":true,"type":"module"}',
          'src/pages/contact.astro': fit(fileOf('src/pages/contact.astro', 'astro'), form, ws),
        })
        // Astro wants a newer Node than this project does.
        await run(folder, [process.execPath, '--bun', join(home, 'node_modules/.bin/astro'), 'build'])
        await sendFrom(join(folder, 'dist'), '/contact/')
        expect(await ws.listSubmissions(form.key)).toMatchObject([{ fields: SENT, sessionLinked: true }])
      },
      INSTALL_MS,
    )

    test(
      'Hugo: the shortcode in a page, sent by the browser',
      async () => {
        if (!Bun.which('hugo')) installPackage('hugo', 'install it.')
        const { ws, form } = await create()
        const folder = await createFolder(project.dir, {
          'hugo.toml': fit(`baseURL = "${site().origin}/"\n${fileOf('hugo.toml', 'toml')}`, form, ws),
          'layouts/shortcodes/contact.html': fileOf('layouts/shortcodes/contact.html', 'html'),
          'layouts/_default/single.html': '<main>{{ .Content }}</main>',
          'content/contact.md': '---\ntitle: Contact\n---\n{{< contact >}}\n',
        })
        await run(folder, ['hugo'])
        await sendFrom(join(folder, 'public'), '/contact/', `${site().origin}/thanks/`)
        expect(await ws.listStoredFields(form.key)).toEqual([SENT])
      },
      INSTALL_MS,
    )
  })

  /** @param next where the browser ends; without it, the snippet says thanks on the page */
  async function sendFrom(folder: string, path: string, next?: string) {
    const served = serveFolder(folder)
    const visitor = await site().openVisitor()
    try {
      if (next) await visitor.page.goto(served.origin + path)
      else await site().open(visitor, served.origin + path)
      await fillIn(visitor.page)
      await visitor.page.click('button')
      if (next) await visitor.page.waitForURL(next)
      else await visitor.page.getByText('Thank').waitFor()
      expect(visitor.errors).toEqual([])
    } finally {
      await visitor.close()
      await served.close()
    }
  }
})

async function bundleSvelte(home: string, entry: string): Promise<string> {
  const { compile } = await import(join(home, 'node_modules/svelte/src/compiler/index.js'))
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: 'browser',
    plugins: [
      {
        name: 'svelte',
        setup(build) {
          build.onLoad({ filter: /\.svelte$/ }, async ({ path }) => {
            const { js } = compile(await Bun.file(path).text(), { generate: 'client', filename: path })
            return { contents: js.code, loader: 'js' }
          })
        },
      },
    ],
  })
  return `<script type="module">${((await outputs[0]?.text()) ?? '').replaceAll('</script', '<\\/script')}</script>`
}
