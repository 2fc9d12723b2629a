// The forms of the gallery in a real browser: pasted into a page as they stand, without barriers, sent without a script,
// with the snippet and with the captcha, and shown in the dashboard as they are.

import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { ExampleForm } from '../../dashboard/pages/forms/form-controls.ts'
import { FORM_TEMPLATES, type FormTemplate } from '../../dashboard/pages/forms/gallery/templates.ts'
import { writeTemplate } from '../../dashboard/pages/forms/gallery/write-template.ts'
import { findBarriers } from '../support/browser/accessibility.ts'
import { onCustomerSite } from '../support/browser/customer-site.ts'
import { onDashboard } from '../support/browser/dashboard-browser.ts'
import { fillWorkspace } from '../support/users/fill-workspace.ts'

const HOSTED = { afterSubmit: 'hosted', onError: 'hosted', successMessage: 'See you soon.' }

/** What a person types, by the name of the field. */
const TYPED: Record<string, string> = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  message: 'Hello',
  date: '2026-12-24',
  time: '19:30',
  phone: '+49 171 1234567',
  guests: '4',
}

/** Settings of each form, and what is stored beside the fields that the template has. */
const SETTINGS: Record<FormTemplate['id'], { settings: object; more: Record<string, string> }> = {
  contact: {
    settings: {
      requiredFields: ['email', 'message', 'file'],
      rules: { message: { minLength: 3, maxLength: 500 }, topic: { oneOf: ['Sales', 'Support'] } },
      uploads: { maxFiles: 2, maxBytes: 1_000_000, accept: ['.pdf'] },
    },
    more: { topic: 'Sales', file: 'plan.pdf' },
  },
  newsletter: {
    settings: { requiredFields: ['email', 'terms'], consent: { field: 'terms', text: 'Send me the news.' } },
    more: { terms: 'yes' },
  },
  booking: {
    settings: {
      requiredFields: ['name', 'email', 'date', 'time'],
      rules: { date: { type: 'date' }, phone: { type: 'tel', maxLength: 20 }, guests: { type: 'number' } },
      brand: { color: '#7a1f5c' },
    },
    more: {},
  },
}

async function fillIn(page: Page, { fields }: FormTemplate, more: Record<string, string>) {
  for (const name of fields.flat()) await page.fill(`[name=${name}]`, TYPED[name] ?? '')
  if (more.topic) await page.selectOption('[name=topic]', more.topic)
  if (more.terms) await page.check('[name=terms]')
  const plan = { name: 'plan.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4\n%âãÏÓ\n') }
  if (more.file) await page.setInputFiles('[name=file]', [plan])
}

const toStored = ({ fields }: FormTemplate, more: Record<string, string>) =>
  Object.fromEntries([...fields.flat().map((name) => [name, TYPED[name]]), ...Object.entries(more)])

onCustomerSite('a form of the gallery on a page', (site) => {
  const write = (template: FormTemplate, endpoint: string, settings: object, snippet?: string) => {
    const form: ExampleForm = {
      endpoint,
      requiredFields: [],
      captcha: false,
      successMessage: null,
      ...settings,
    }
    return `<main><h1>The shop</h1>${writeTemplate(template, form, { color: '#7a1f5c', snippet })}</main>`
  }

  test.each(FORM_TEMPLATES)(
    '$label: has no barrier, fits a phone, and is sent without a script',
    async (template) => {
      const { settings, more } = SETTINGS[template.id]
      const { createWorkspace, addPage, openVisitor, browser, server } = site()
      const ws = await createWorkspace()
      const form = await ws.createForm({ ...HOSTED, ...settings })
      const url = addPage(write(template, form.endpoint, settings))
      const visitor = await openVisitor()
      await visitor.page.goto(url)
      expect(await findBarriers(visitor.page)).toEqual([])
      await visitor.page.setViewportSize({ width: 320, height: 700 })
      expect(await visitor.page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
        320,
      )
      // The browser itself refuses what the form would refuse.
      await visitor.page.click('button')
      expect(visitor.page.url()).toBe(url)
      expect(
        await visitor.page.evaluate<string>(`document.querySelector(':invalid:not(form)').name`),
      ).not.toBe('')
      expect(visitor.errors).toEqual([])
      await visitor.close()

      const context = await browser.newContext({ javaScriptEnabled: false })
      const page = await context.newPage()
      await page.goto(url)
      await fillIn(page, template, more)
      await page.click('button')
      await page.waitForURL(`${server.origin}/f/${form.key}/thanks`)
      expect(await page.textContent('.message')).toBe(HOSTED.successMessage)
      expect(await ws.listStoredFields(form.key)).toEqual([toStored(template, more)])
      await context.close()
    },
  )

  test('with the snippet and the captcha: stays on the page, with the errors at the fields', async () => {
    const { createWorkspace, addPage, openVisitor, open } = site()
    const ws = await createWorkspace()
    const settings = { requiredFields: ['email'], captcha: true, rules: { name: { minLength: 3 } } }
    const form = await ws.createForm({ ...HOSTED, ...settings })
    const [template] = FORM_TEMPLATES
    if (!template) throw new Error('the gallery is empty')
    const visitor = await openVisitor()
    const url = addPage(write(template, form.endpoint, settings, ws.tag))
    await open(visitor, url)
    await visitor.page.evaluate('document.querySelector("form").noValidate = true')
    await visitor.page.fill('[name=name]', 'Al')
    await visitor.page.click('button')
    await visitor.page
      .getByText('Enter a valid email address')
      .or(visitor.page.getByText('This field is required'))
      .first()
      .waitFor()
    await fillIn(visitor.page, template, {})
    await visitor.page.click('button')
    await visitor.page.getByText(HOSTED.successMessage).waitFor()
    expect(visitor.page.url()).toBe(url)
    expect(await ws.listStoredFields(form.key)).toEqual([toStored(template, {})])
    expect(visitor.errors).toEqual([])
    await visitor.close()
  })
})

onDashboard('the gallery of a form', (dashboard) => {
  test('shows each form as it will look, and copies its code', async () => {
    const { signUp, openWindow, server } = dashboard()
    const person = await signUp()
    const { form } = await fillWorkspace(server, person)
    await person.api(`/forms/${form}`, {
      method: 'PATCH',
      body: { requiredFields: ['email', '<img src=x onerror=alert(1)>'], brand: { color: '#7a1f5c' } },
    })
    const { page, open, errors, close } = await openWindow(person, {
      permissions: ['clipboard-read', 'clipboard-write'],
      inNewProfile: true,
    })
    const requests: string[] = []
    page.on('request', (request) => requests.push(new URL(request.url()).pathname))
    await open(`/forms/${form}?tab=gallery`)
    await page.waitForLoadState('networkidle')
    expect(requests.filter((path) => path.endsWith('.js')).length).toBeLessThanOrEqual(10)
    expect(requests.filter((path) => /\.js$|^\/(?:v1|api)\//.test(path)).length).toBeLessThanOrEqual(15)
    for (const { label, title, button } of FORM_TEMPLATES) {
      await page.getByRole('link', { name: label, exact: true }).click()
      await page.getByTitle(`Preview: ${label}`).waitFor()
      const shown = await page.evaluate<{
        text: string
        color: string
        active: number
        room: number
      }>(`(() => {
        const frame = document.querySelector('iframe')
        const { body } = frame.contentDocument
        const { backgroundColor } = frame.contentWindow.getComputedStyle(body.querySelector('button'))
        const active = body.querySelectorAll('script, img, [onerror]').length
        return { text: body.innerText, color: backgroundColor, active, room: frame.clientHeight - body.scrollHeight }
      })()`)
      expect(shown.text).toContain(title)
      expect(shown.text).toContain(button)
      expect(shown).toMatchObject({ color: 'rgb(122, 31, 92)', active: 0 })
      expect(shown.room).toBeGreaterThanOrEqual(0)
      await page.getByRole('button', { name: 'Copy', exact: true }).click()
      await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor({ state: 'attached' })
      const copied = await page.evaluate<string>('navigator.clipboard.readText()')
      expect(copied).toContain(`<h2>${title}</h2>`)
      expect(copied).toContain('name="&lt;img src=x onerror=alert(1)&gt;" required')
      expect(copied).toBe((await page.locator('pre code').first().textContent()) ?? '')
    }
    expect(await findBarriers(page)).toEqual([])
    expect(errors).toEqual([])
    await close()
  }, 60_000)
})
