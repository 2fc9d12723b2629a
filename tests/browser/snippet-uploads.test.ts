// Forms with files on a customer's page in a real browser: refusals before sending, progress, errors at each file
// input, and the browser's own multipart request where the snippet cannot help.

import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { onCustomerSite } from '../support/browser/customer-site.ts'
import { atScale, full } from '../support/suite.ts'
import { until } from '../support/until.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const toFormHtml = (endpoint: string, rest = 'enctype="multipart/form-data"') =>
  `<form action="${endpoint}" method="post" ${rest}><label>Note <input name="note"></label>
   <label>CV <input type="file" name="cv"></label> <label>Photos <input type="file" name="photos" multiple></label>
   <button>Send</button></form>`

/** In the soak, the upload takes longer than the 30 s in which a form without files must be answered. */
const SLOW = atScale({
  full: { bytes: 1_000_000, bytesPerSecond: 700_000 },
  soak: { bytes: 3_000_000, bytesPerSecond: 80_000 },
})

const choose = (
  page: Page,
  field: string,
  ...files: [name: string, type: string, content: Buffer | number][]
) =>
  page.setInputFiles(
    `[name=${field}]`,
    files.map(([name, mimeType, content]) => ({
      name,
      mimeType,
      buffer: typeof content === 'number' ? Buffer.alloc(content, 'a') : content,
    })),
  )

const errorAt = async (page: Page, field: string) => {
  const input = page.locator(`[name=${field}]`)
  if ((await input.getAttribute('aria-invalid')) !== 'true') return undefined
  return page.locator(`#${await input.getAttribute('aria-describedby')}`).textContent()
}

onCustomerSite('forms with files', (site) => {
  const open = async (settings: object, headers: Record<string, string> = {}, rest?: string) => {
    const ws = await site().createWorkspace()
    const form = await ws.createForm({ redirectUrl: `${site().origin}/thanks`, ...settings })
    const visitor = await site().openVisitor()
    const posts: string[] = []
    visitor.page.on('request', (request) => {
      if (request.method() === 'POST' && request.url() === form.endpoint) posts.push(request.resourceType())
    })
    const url = site().addPage(`${ws.tag}${toFormHtml(form.endpoint, rest)}`, headers)
    return { ws, form, visitor, page: visitor.page, posts, url, start: () => site().open(visitor, url) }
  }

  full(
    'show how much is sent, without leaving the page and without a word of the policy against it',
    async () => {
      const origin = site().server.origin
      const { ws, form, page, visitor, url, start } = await open(
        { uploads: { maxFiles: 3, maxBytes: 5_000_000 } },
        {
          'Content-Security-Policy': `default-src 'none'; img-src data:; script-src ${origin}; connect-src ${origin}; form-action ${origin}; require-trusted-types-for 'script'; trusted-types towpath`,
        },
      )
      await start()
      await page.evaluate(`
      window.progress = []
      window.lines = new Set()
      addEventListener('towpath:progress', ({ detail }) => {
        progress.push(detail)
        const bar = document.querySelector('progress')
        if (bar.nextElementSibling?.tagName !== 'BUTTON') lines.add('the bar is elsewhere')
        if (bar.value > 0 && bar.value < bar.max) window.half = bar.getAttribute('aria-label')
        lines.add(document.querySelector('form [role=status]').textContent)
      })`)
      await choose(page, 'cv', ['cv.txt', 'text/plain', SLOW.bytes])
      await choose(page, 'photos', ['a.png', 'image/png', PNG], ['b.png', 'image/png', PNG])
      const network = await visitor.context.newCDPSession(page)
      await network.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput: SLOW.bytesPerSecond,
      })
      await page.click('button')
      await page.locator('progress').waitFor()
      await page.locator('form [role=status]', { hasText: 'Thank' }).waitFor()
      const progress = await page.evaluate<{ formKey: string; sent: number; total: number }[]>('progress')
      expect(progress.length).toBeGreaterThan(2)
      expect(progress.map(({ sent }) => sent)).toEqual(progress.map(({ sent }) => sent).sort((a, b) => a - b))
      expect(progress.at(-1)).toEqual({
        formKey: form.key,
        sent: progress[0]?.total as number,
        total: progress[0]?.total as number,
      })
      expect(progress[0]?.total).toBeGreaterThan(SLOW.bytes)
      const lines = await page.evaluate<string[]>('[...lines]')
      for (const line of lines) expect(line).toMatch(/^Uploading: (0|25|50|75|100) %$/)
      expect(lines.length).toBeGreaterThan(1)
      expect(await page.locator('progress').count()).toBe(0)
      expect(page.url()).toBe(url)
      expect(await ws.listStoredFields(form.key)).toEqual([
        { note: '', cv: 'cv.txt', photos: 'a.png, b.png' },
      ])
      expect(visitor.errors).toEqual([])
      await visitor.close()
    },
  )

  test('refuse what is too large, too much or of a wrong type before it is sent, at its input', async () => {
    const { page, visitor, posts, start } = await open({
      uploads: { maxFiles: 2, maxBytes: 1000, accept: ['image/*', '.txt'] },
    })
    await start()
    const tries: [field: string, files: Parameters<typeof choose>[2][], RegExp][] = [
      ['cv', [['cv.txt', 'text/plain', 1001]], /too large/],
      ['cv', [['cv.pdf', 'application/pdf', 10]], /type/],
      [
        'photos',
        [
          ['a.png', 'image/png', PNG],
          ['b.png', 'image/png', PNG],
          ['c.png', 'image/png', PNG],
        ],
        /many/i,
      ],
    ]
    for (const [field, files, message] of tries) {
      await choose(page, 'cv')
      await choose(page, 'photos')
      await choose(page, field, ...files)
      await page.click('button')
      await until('the error', async () => message.test((await errorAt(page, field)) ?? ''))
      expect(await page.evaluate('document.activeElement.name')).toBe(field)
    }
    expect(await errorAt(page, 'cv')).toBeUndefined()
    expect(posts).toEqual([])
    expect(visitor.errors).toEqual([])
    await visitor.close()
  })

  test('show what the server finds in a file at its input, and keep the other fields', async () => {
    const { ws, form, page, visitor, start } = await open({ uploads: { accept: ['image/*'] } })
    await start()
    await page.fill('[name=note]', 'kept')
    // Called an image, and none.
    await choose(page, 'cv', ['cv.png', 'image/png', 500])
    await choose(page, 'photos', ['a.png', 'image/png', PNG])
    await page.click('button')
    await until('the error', async () => /type/.test((await errorAt(page, 'cv')) ?? ''))
    expect(await errorAt(page, 'photos')).toBeUndefined()
    expect(await page.inputValue('[name=note]')).toBe('kept')
    await choose(page, 'cv', ['cv.png', 'image/png', PNG])
    await page.click('button')
    await page.locator('form [role=status]', { hasText: 'Thank' }).waitFor()
    expect(await ws.listStoredFields(form.key)).toEqual([{ note: 'kept', cv: 'cv.png', photos: 'a.png' }])
    expect(visitor.errors).toEqual([])
    await visitor.close()
  })

  full('without uploads refuse a file before it is sent, and send an empty input', async () => {
    const { ws, form, page, visitor, posts, start } = await open({})
    await start()
    await choose(page, 'cv', ['cv.txt', 'text/plain', 10])
    await page.click('button')
    await until('the error', async () => (await errorAt(page, 'cv')) === 'File uploads are not supported')
    expect(posts).toEqual([])
    await choose(page, 'cv')
    await page.click('button')
    await page.locator('form [role=status]', { hasText: 'Thank' }).waitFor()
    expect(await ws.listStoredFields(form.key)).toEqual([{ note: '' }])
    await visitor.close()
  })

  full.each([
    ['the snippet is blocked', /\/t\.js$/, 'enctype="multipart/form-data"', ['document']],
    ['its part for files is blocked', /\/uploads-\w+\.js$/, '', ['document']],
  ])('are sent by the browser when %s', async (_, blocked, rest, expected) => {
    const { ws, form, page, visitor, posts, url } = await open({ uploads: {} }, {}, rest)
    await visitor.context.route(blocked, (route) => route.abort())
    await page.goto(url, { waitUntil: 'networkidle' })
    await choose(page, 'cv', ['cv.txt', 'text/plain', 200_000])
    await page.click('button')
    await page.waitForURL(`${site().origin}/thanks`)
    expect(posts).toEqual(expected)
    expect(await ws.listStoredFields(form.key)).toEqual([{ note: '', cv: 'cv.txt' }])
    await visitor.close()
  })

  full('are sent by the browser, once and with their files, when the script’s request fails', async () => {
    const { ws, form, page, visitor, posts, start } = await open({ uploads: {} }, {}, '')
    await visitor.context.route(form.endpoint, (route) =>
      route.request().resourceType() === 'xhr' ? route.abort() : route.continue(),
    )
    await start()
    await choose(page, 'cv', ['cv.txt', 'text/plain', 10])
    await page.click('button')
    await page.waitForURL(`${site().origin}/thanks`)
    expect(posts).toEqual(['xhr', 'document'])
    expect(await ws.listStoredFields(form.key)).toEqual([{ note: '', cv: 'cv.txt' }])
    expect(visitor.errors).toEqual([])
    await visitor.close()
  })

  full('can be sent again when their page returns from the back/forward cache', async () => {
    const { ws, form, page, visitor, url, start } = await open({ uploads: {} })
    await start()
    await page.evaluate('window.same = true')
    await choose(page, 'cv', ['one.txt', 'text/plain', 10])
    await page.click('button')
    await page.locator('form [role=status]', { hasText: 'Thank' }).waitFor()
    await page.goto(`${site().origin}/elsewhere`)
    await page.evaluate('history.back()')
    await until('the page', () => page.url() === url)
    expect(await page.evaluate('window.same')).toBe(true)
    await choose(page, 'cv', ['two.txt', 'text/plain', 10])
    await page.click('button')
    await page.locator('form [role=status]', { hasText: 'Thank' }).waitFor()
    expect((await ws.listStoredFields(form.key)).map(({ cv }) => cv)).toEqual(['one.txt', 'two.txt'])
    expect(visitor.errors).toEqual([])
    await visitor.close()
  })
})
