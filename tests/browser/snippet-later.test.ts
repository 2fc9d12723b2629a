// Forms that a script of the page adds after the snippet has loaded, and the language of the page.

import { expect, test } from 'bun:test'
import { onCustomerSite } from '../support/browser/customer-site.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'

const formOf = ({ endpoint }: { endpoint: string }) =>
  `<form action="${endpoint}" method="post"><input name="note"><button>Send</button></form>`

onCustomerSite('forms that come later', (site) => {
  const open = async (before = '', settings: object = {}) => {
    const ws = await site().createWorkspace()
    const form = await ws.createForm({ redirectUrl: `${site().origin}/thanks`, ...settings })
    const visitor = await site().openVisitor()
    const described: string[] = []
    visitor.page.on('requestfinished', (request) => {
      if (/\/forms\?keys=/.test(request.url())) described.push(request.url())
    })
    await visitor.page.goto(site().addPage(`${before.replace('{form}', formOf(form))}${ws.tag}<main></main>`))
    const untilDescribed = (count: number) => until('the form info', () => described.length >= count)
    const add = `document.querySelector('main').innerHTML = ${JSON.stringify(formOf(form))}`
    return { ws, form, visitor, page: visitor.page, described, untilDescribed, add }
  }

  test('are enhanced once, however often a script asks, and let go of', async () => {
    const { ws, form, visitor, page, described, untilDescribed, add } = await open('', {
      requiredFields: ['note'],
    })
    await page.waitForFunction('window.towpath?.enhance')
    await page.evaluate(`${add}; window.form = document.querySelector('form')
      window.undo = towpath.enhance(form); towpath.enhance(form); towpath.push(form)`)
    await untilDescribed(1)
    await page.click('button')
    await page.locator('[name=note][aria-invalid]').waitFor()
    await page.evaluate(`undo(); undo()`)
    expect(await page.locator('[aria-invalid], .towpath-error, form p').count()).toBe(0)
    // As an effect of React in StrictMode does.
    await page.evaluate(`towpath.enhance(form)(); window.undo = towpath.enhance(form)`)
    await untilDescribed(3)
    await page.fill('[name=note]', 'one')
    await page.click('button')
    await page.locator('[role=status]', { hasText: 'Thank' }).waitFor()
    expect(described).toHaveLength(3)
    // The second page of a router: another form element.
    await page.evaluate(
      `undo(); history.pushState(null, '', '/next'); ${add}; towpath.enhance(document.querySelector('form'))`,
    )
    await untilDescribed(4)
    await page.fill('[name=note]', 'two')
    await page.click('button')
    await page.locator('[role=status]', { hasText: 'Thank' }).waitFor()
    await page.evaluate(`towpath.enhance(document.querySelector('form'))()`)
    await page.fill('[name=note]', 'three')
    await page.click('button')
    await page.waitForURL(`${site().origin}/thanks`)
    const stored = await ws.listStoredFields(form.key)
    expect(stored.map(({ note }) => note)).toEqual(['one', 'two', 'three'])
    expect(visitor.errors).toEqual([])
    await visitor.close()
  })

  test('may be named before the snippet has loaded', async () => {
    const { ws, form, visitor, page, untilDescribed } = await open(
      `<div id="there"></div><script>
        const box = document.createElement('div')
        box.innerHTML = \`{form}\`
        window.towpath ||= []
        window.towpath.push(box.firstChild)
        addEventListener('load', () => there.append(box))
      </script>`,
    )
    await untilDescribed(1)
    await page.locator('form').waitFor()
    await page.click('button')
    await page.locator('[role=status]', { hasText: 'Thank' }).waitFor()
    expect(await ws.listStoredFields(form.key)).toHaveLength(1)
    expect(visitor.errors).toEqual([])
    await visitor.close()
  })

  full('and everything else works where an element of the page has the name of the snippet', async () => {
    const { page, visitor, untilDescribed } = await open('<div id="towpath"></div>{form}')
    await untilDescribed(1)
    await page.click('button')
    await page.locator('[role=status]', { hasText: 'Thank' }).waitFor()
    expect(visitor.errors).toEqual([])
    await visitor.close()
  })

  full('are no error where they are no forms of this server', async () => {
    const { page, visitor } = await open()
    await page.waitForFunction('window.towpath?.enhance')
    await page.evaluate(`towpath.enhance(document.createElement('form'))(); towpath.enhance(document.body)()`)
    expect(visitor.errors).toEqual([])
    await visitor.close()
  })
})

onCustomerSite('the language of a page', (site) => {
  full.each([
    ['de', 'Dieses Feld ist erforderlich', 'Vielen Dank'],
    ['fr-CA', 'Ce champ', 'Merci'],
    ['tlh', 'This field is required', 'Thank'],
  ])('is that of messages and of thanks: %s', async (language, message, thanks) => {
    const ws = await site().createWorkspace()
    const form = await ws.createForm({ requiredFields: ['note'] })
    const visitor = await site().openVisitor()
    const { page } = visitor
    const setLanguage = `<script>document.documentElement.lang = '${language}'</script>`
    await site().open(visitor, site().addPage(`${setLanguage}${ws.tag}${formOf(form)}`))
    await page.click('button')
    await page.locator('.towpath-error', { hasText: message }).waitFor()
    await page.fill('[name=note]', 'x')
    await page.click('button')
    await page.locator('[role=status]', { hasText: thanks }).waitFor()
    expect(await ws.listStoredFields(form.key)).toEqual([{ note: 'x' }])
    expect(visitor.errors).toEqual([])
    await visitor.close()
  })

  full('is that of errors in the address of the page, which the browser has brought back', async () => {
    const ws = await site().createWorkspace()
    const form = await ws.createForm({ requiredFields: ['note'] })
    const visitor = await site().openVisitor()
    const { page } = visitor
    const url = site().addPage(
      `<meta name="referrer" content="unsafe-url"><script>document.documentElement.lang = 'de'</script>${ws.tag}${formOf(form)}`,
    )
    await page.goto(url)
    // The form info is not here yet, or the browser sends the form all the same: both lead to the same message.
    await page.evaluate(`HTMLFormElement.prototype.submit.call(document.querySelector('form'))`)
    await page.locator('[name=note][aria-invalid]').waitFor()
    expect(await page.locator('.towpath-error').allTextContents()).toEqual(['Dieses Feld ist erforderlich'])
    expect(page.url()).toBe(url)
    await visitor.close()
  })
})
