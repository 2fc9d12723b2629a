// Forms with the snippet on a customer's page in a real browser: the visitor's messages and the stored fields.

import { expect, test } from 'bun:test'
import { onCustomerSite } from '../support/browser/customer-site.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'

const FIELDS = `
  <label for="email">Email</label> <input id="email" name="email">
  <label>Message <textarea name="message" aria-describedby="hint"></textarea></label> <small id="hint">Short.</small>
  <button name="intent" value="ask">Send</button>`

onCustomerSite('forms with the snippet', (site) => {
  test('submit without leaving the page, include the clicked button, and show the success message', async () => {
    const { createWorkspace, addPage, openVisitor, requests } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ successMessage: 'We <b>call</b> you back.' })
    const url = addPage(`${ws.tag}<form action="${form.endpoint}" method="post">${FIELDS}</form>`)
    const { page, errors, close } = await openVisitor()
    const facts = page.waitForResponse(/\/e\/forms/)
    await page.goto(url)
    await (await facts).finished()
    await page.evaluate(
      `addEventListener('towpath:success', (e) => { window.eventDetail = e.detail.formKey })`,
    )
    await page.fill('#email', 'ada@example.com')
    await page.fill('textarea', 'Hello\nthere')
    await page.click('button')
    const status = page.locator('form [role=status]')
    await until('a message', async () => (await status.textContent()) !== '')
    expect(await status.textContent()).toBe('We <b>call</b> you back.')
    expect(page.url()).toBe(url)
    expect(await page.inputValue('#email')).toBe('')
    expect(await page.evaluate('window.eventDetail')).toBe(form.key)
    expect(await page.locator('form').getAttribute('aria-busy')).toBeNull()
    expect(await ws.listStoredFields(form.key)).toEqual([
      { email: 'ada@example.com', message: 'Hello\r\nthere', intent: 'ask' },
    ])
    expect(requests.filter((line) => line.startsWith('POST'))).toEqual([])
    expect(errors).toEqual([])
    await close()
  })

  test('show each error at its field, also to screen readers, and keep what the visitor typed', async () => {
    const { createWorkspace, addPage, openVisitor } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ requiredFields: ['message', 'phone'] })
    const { page, errors, close } = await openVisitor()
    const facts = page.waitForResponse(/\/e\/forms/)
    await page.goto(addPage(`${ws.tag}<form action="${form.endpoint}" method="post">${FIELDS}</form>`))
    await (await facts).finished()
    await page.evaluate(`addEventListener('towpath:error', (e) => { window.eventDetail = e.detail })`)
    await page.fill('#email', 'ada@')
    await page.click('button')
    const email = page.locator('#email')
    await until('an error', async () => (await email.getAttribute('aria-invalid')) === 'true')
    const described = async (selector: string) => {
      const ids = (await page.locator(selector).getAttribute('aria-describedby'))?.split(' ') ?? []
      return Promise.all(ids.map((id) => page.locator(`#${id}`).textContent()))
    }
    expect(await described('#email')).toEqual(['Enter a valid email address'])
    expect(await described('textarea')).toEqual(['Short.', 'This field is required'])
    expect(await page.locator('form [role=alert]').textContent()).toBe('phone: This field is required')
    expect(await page.evaluate('document.activeElement.id')).toBe('email')
    expect(await page.inputValue('#email')).toBe('ada@')
    expect(await page.locator('label textarea + span').count()).toBe(0)
    expect(await page.evaluate('window.eventDetail')).toMatchObject({
      formKey: form.key,
      status: 422,
      errors: { email: 'Enter a valid email address' },
    })
    expect(await ws.listStoredFields(form.key)).toEqual([])

    // A successful submission removes all errors.
    await page.evaluate(
      `document.querySelector('form').insertAdjacentHTML('beforeend', '<input name=phone value=1>')`,
    )
    await page.fill('#email', 'ada@example.com')
    await page.fill('textarea', 'x')
    await page.click('button')
    await page.locator('form [role=status]', { hasText: 'Thank' }).waitFor()
    expect(await page.locator('[aria-invalid]').count()).toBe(0)
    expect(await page.locator('textarea').getAttribute('aria-describedby')).toBe('hint')
    expect(await email.getAttribute('aria-describedby')).toBeNull()
    expect(await page.locator('.towpath-error').count()).toBe(0)
    expect(errors).toEqual([])
    await close()
  })

  test('submit once, however often the button is clicked', async () => {
    const { createWorkspace, addPage, openVisitor } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm()
    const { page, close } = await openVisitor()
    const facts = page.waitForResponse(/\/e\/forms/)
    await page.goto(addPage(`${ws.tag}<form action="${form.endpoint}" method="post">${FIELDS}</form>`))
    await (await facts).finished()
    await page.fill('textarea', 'once')
    let posts = 0
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url() === form.endpoint) posts++
    })
    // The second click of a double click comes when the answer is shown already.
    await page.evaluate(`{
      const form = document.querySelector('form')
      new MutationObserver((_, observer) => {
        if (!form.querySelector('[role=status]')?.textContent.includes('Thank')) return
        observer.disconnect()
        form.querySelector('button').click()
        form.requestSubmit()
        document.title = 'clicked again'
      }).observe(form, { childList: true, subtree: true, characterData: true })
    }`)
    await page.click('button')
    await page.waitForFunction(`document.title === 'clicked again'`)
    expect(posts).toBe(1)
    expect(await ws.listStoredFields(form.key)).toHaveLength(1)
    // A change allows another submission.
    await page.fill('textarea', 'twice')
    await until('the second', async () => {
      await page.click('button')
      return posts > 1
    })
    await page.dblclick('button')
    await until('its answer', async () => (await ws.listStoredFields(form.key)).length > 1)
    expect((await ws.listStoredFields(form.key)).map(({ message }) => message)).toEqual(['once', 'twice'])
    expect(posts).toBe(2)
    await close()
  })

  full('work with inputs that have the names of form properties', async () => {
    const { createWorkspace, addPage, openVisitor } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ requiredFields: ['elements'] })
    const names = [
      'action',
      'submit',
      'method',
      'target',
      'reset',
      'elements',
      'id',
      'name',
      'append',
      'length',
      'setAttribute',
      'removeAttribute',
      'dispatchEvent',
      'querySelectorAll',
      'constructor',
    ]
    const inputs = names.map((name) => `<input name="${name}">`).join('')
    const { page, errors, close } = await openVisitor()
    const facts = page.waitForResponse(/\/e\/forms/)
    const url = addPage(
      `${ws.tag}<form action="${form.endpoint}" method="post">${inputs}<button>Send</button></form>`,
    )
    await page.goto(url)
    await (await facts).finished()
    await page.click('button')
    await page.locator('[name=elements][aria-invalid=true]').waitFor()
    for (const name of names) await page.fill(`[name=${name}]`, 'v')
    await page.click('button')
    await page.locator('form [role=status]', { hasText: 'Thank' }).waitFor()
    expect(await ws.listStoredFields(form.key)).toEqual([
      Object.fromEntries(names.map((name) => [name, 'v'])),
    ])
    expect(await page.inputValue('[name=action]')).toBe('')
    expect(page.url()).toBe(url)
    expect(errors).toEqual([])
    await close()
  })

  full('show their own messages when a page has several', async () => {
    const { createWorkspace, addPage, openVisitor } = site()
    const ws = await createWorkspace()
    const first = await ws.createForm({ requiredFields: ['a'], successMessage: 'First' })
    const second = await ws.createForm({ successMessage: 'Second' })
    const foreign = addPage('<h1>Elsewhere</h1>')
    const { page, errors, close } = await openVisitor()
    const facts = page.waitForResponse(/\/e\/forms/)
    await page.goto(
      addPage(`${ws.tag}
        <form id="one" action="${first.endpoint}" method="post"><input name="a"><button>Send</button></form>
        <form id="two" action="${second.endpoint}/" method="post"><input name="a"><button>Send</button></form>
        <form id="again" action="${first.endpoint}" method="post"><input name="a"><button>Send</button></form>
        <form id="foreign" action="${foreign}" method="post"><input name="a"><button>Send</button></form>`),
    )
    const keys = new URL((await facts).url()).searchParams.get('keys')?.split(',')
    expect(keys).toEqual([first.key, second.key])
    await (await facts).finished()
    await page.click('#one button')
    await page.locator('#one [aria-invalid]').waitFor()
    await page.click('#two button')
    await page.locator('#two [role=status]', { hasText: 'Second' }).waitFor()
    await page.fill('#again input', 'x')
    await page.click('#again button')
    await page.locator('#again [role=status]', { hasText: 'First' }).waitFor()
    expect(await page.locator('[aria-invalid]').count()).toBe(1)
    expect(await ws.listStoredFields(first.key)).toEqual([{ a: 'x' }])
    expect(await ws.listStoredFields(second.key)).toEqual([{ a: '' }])
    await page.click('#foreign button')
    await page.waitForURL(foreign)
    expect(errors).toEqual([])
    await close()
  })

  full('that are added after the page has loaded are submitted natively, and stored', async () => {
    const { createWorkspace, addPage, openVisitor, origin } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ redirectUrl: `${origin}/thanks-late` })
    const { page, errors, close } = await openVisitor()
    await page.goto(addPage(`${ws.tag}<main></main>`), { waitUntil: 'load' })
    await page.evaluate(`document.querySelector('main').innerHTML =
      '<form action="${form.endpoint}" method="post"><input name="a" value="late"><button>Send</button></form>'`)
    await page.click('button')
    await page.waitForURL(`${origin}/thanks-late`)
    expect(await ws.listStoredFields(form.key)).toEqual([{ a: 'late' }])
    expect(errors).toEqual([])
    await close()
  })

  test('are not intercepted when the page handles them, or when they have another target', async () => {
    const { createWorkspace, addPage, openVisitor, origin } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ redirectUrl: `${origin}/thanks-elsewhere` })
    const { page, context, close } = await openVisitor()
    const facts = page.waitForResponse(/\/e\/forms/)
    await page.goto(
      addPage(`${ws.tag}
        <form id="own" action="${form.endpoint}" method="post"><input name="a" value="own"><button>Send</button></form>
        <form id="blank" action="${form.endpoint}" method="post" target="_blank">
          <input name="a" value="blank"><button>Send</button></form>
        <form id="other" action="${form.endpoint}" method="post">
          <input name="a"><button formaction="${origin}/other-place" formmethod="get">Send</button></form>
        <script>own.addEventListener('submit', (event) => event.preventDefault())</script>`),
    )
    await (await facts).finished()
    await page.click('#own button')
    const opened = context.waitForEvent('page')
    await page.click('#blank button')
    await (await opened).waitForURL(`${origin}/thanks-elsewhere`)
    await page.click('#other button')
    await page.waitForURL(`${origin}/other-place?a=`)
    expect(await ws.listStoredFields(form.key)).toEqual([{ a: 'blank' }])
    await close()
  })

  full('show no message when the page cancels the event', async () => {
    const { createWorkspace, addPage, openVisitor, open } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ requiredFields: ['message'] })
    const visit = await openVisitor()
    const { page } = visit
    await open(visit, addPage(`${ws.tag}<form action="${form.endpoint}" method="post">${FIELDS}</form>`))
    await page.evaluate(`
      window.events = []
      for (const type of ['towpath:success', 'towpath:error'])
        addEventListener(type, (event) => { event.preventDefault(); events.push(type) })`)
    await page.click('button')
    await until('the error', () => page.evaluate('events.length === 1'))
    await page.fill('textarea', 'x')
    await page.click('button')
    await until('the success', () => page.evaluate('events.length === 2'))
    expect(await page.evaluate('events')).toEqual(['towpath:error', 'towpath:success'])
    expect(await page.locator('[aria-invalid], .towpath-error').count()).toBe(0)
    expect(await page.locator('form p').textContent()).toBe('')
    expect(await page.inputValue('textarea')).toBe('')
    expect(visit.errors).toEqual([])
    await visit.close()
  })

  full('that are disabled lead to the page for closed forms', async () => {
    const { createWorkspace, addPage, openVisitor } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({ enabled: false })
    const { page, errors, close } = await openVisitor()
    const facts = page.waitForResponse(/\/e\/forms/)
    await page.goto(addPage(`${ws.tag}<form action="${form.endpoint}" method="post">${FIELDS}</form>`))
    await (await facts).finished()
    await page.click('button')
    await page.locator('h1', { hasText: 'This form is closed' }).waitFor()
    expect(errors).toEqual([])
    await close()
  })
})
