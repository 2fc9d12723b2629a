// Texts that visitors and members write are shown as text on every page of the dashboard, never as markup: 200
// payloads as titles, tags, field names and values, user agents, referrers and campaigns.

import { expect } from 'bun:test'
import { onDashboard, waitUntilDrawn } from '../support/browser/dashboard-browser.ts'
import { XSS_PAYLOADS } from '../support/browser/xss-payloads.ts'
import { full } from '../support/suite.ts'
import type { SignedUpUser } from '../support/users/sign-up.ts'
import type { TestServer } from '../support/world.ts'

const FIELDS_AT_ONCE = 25

/** Header values cannot have line breaks or spaces at their ends, and browsers send ASCII. */
const asHeader = (text: string) => text.replace(/[^\x20-\x7e]/g, ' ').trim()

async function submitPayloads(server: TestServer, person: SignedUpUser) {
  const post = async (path: string, body: unknown) => {
    const answer = await person.api(path, { method: 'POST', body })
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`)
    return answer.json.data
  }
  const slugs: string[] = []
  for (let from = 0; from < XSS_PAYLOADS.length; from += 100) {
    const links = XSS_PAYLOADS.slice(from, from + 100).map((text, n) => ({
      destinationUrl: `https://example.com/?q=${encodeURIComponent(text)}#${encodeURIComponent(text)}`,
      title: text,
      comments: text,
      externalId: `${from + n} ${text}`.slice(0, 255),
      tagNames: [`${from + n} ${text}`.slice(0, 50)],
    }))
    for (const { slug } of await post('/links/bulk', links)) slugs.push(slug)
  }
  for (const [n, text] of XSS_PAYLOADS.entries()) {
    const campaign = encodeURIComponent(text)
    await server.click(`${slugs[n]}?utm_source=${campaign}&utm_campaign=${campaign}&utm_term=${campaign}`, {
      'User-Agent': `Mozilla/5.0 (${asHeader(text)}) AppleWebKit/537.36 Chrome/126.0.0.0 Safari/537.36`,
      Referer: `https://example.org/${campaign}?${campaign}`,
    })
  }
  const [first = ''] = XSS_PAYLOADS
  const form = await post('/forms', {
    name: first,
    successMessage: XSS_PAYLOADS.slice(0, 3).join(' '),
    requiredFields: [XSS_PAYLOADS[9]],
  })
  for (let from = 0; from < XSS_PAYLOADS.length; from += FIELDS_AT_ONCE) {
    const texts = XSS_PAYLOADS.slice(from, from + FIELDS_AT_ONCE)
    const response = await server.call(`/f/${form.formKey}`, {
      method: 'POST',
      body: { [XSS_PAYLOADS[9] as string]: first, ...Object.fromEntries(texts.map((text) => [text, text])) },
      headers: {
        'User-Agent': asHeader(texts[0] as string),
        Referer: `https://shop.example/${encodeURIComponent(texts[1] as string)}?utm_source=${encodeURIComponent(texts[2] as string)}`,
      },
    })
    if (response.status !== 200) throw new Error(`the form was rejected: ${response.text}`)
  }
  await server.waitUntilShipped()
  const { json } = await person.api(`/forms/${form.formKey}/submissions`)
  for (const { id } of json.data) {
    await person.api(`/submissions/${id}`, { method: 'PATCH', body: { notes: first } })
  }
  const channel = await post('/channels', { type: 'webhook', name: first, url: 'https://hooks.example/x' })
  const links = await person.api('/links?limit=100')
  const [{ id: submission }] = json.data
  return { form: form.formKey as string, channel, links: links.json.data as { id: number }[], submission }
}

onDashboard(
  'text that visitors write',
  (dashboard) => {
    full(
      'is shown on every page, and never runs as markup',
      async () => {
        const person = await dashboard().signUp({ name: XSS_PAYLOADS[0] })
        const { form, links, submission } = await submitPayloads(dashboard().server, person)
        const { page, errors, open, visit, close } = await dashboard().openWindow(person)
        const search = encodeURIComponent(XSS_PAYLOADS[9] as string)
        const pages = [
          '/links',
          `/links?search=${search}`,
          ...links.slice(0, 2).map(({ id }) => `/links/${id}`),
          `/links?edit=${links[0]?.id}`,
          '/analytics',
          `/analytics?utmSource=${search}`,
          '/analytics?metric=leads',
          '/forms',
          `/forms/${form}`,
          `/forms/${form}?tab=gallery&page=booking`,
          `/forms/${form}?tab=settings`,
          `/forms/${form}?tab=settings&page=fields`,
          `/forms/${form}?tab=settings&page=email`,
          `/forms/${form}?tab=losses`,
          `/inbox?open=${submission}`,
          '/settings/tags',
          '/notifications',
          '/notifications/deliveries',
          '/settings?tab=members',
        ]
        // No payload has become an element that can run code. In the preview of the gallery, nothing runs.
        const countActiveElements = `document.querySelectorAll('script:not([src]), [onerror], [onload], [href^="javascript:"], iframe:not([sandbox="allow-same-origin"])').length`
        for (const path of pages) {
          await visit(path)
          expect([path, await page.evaluate(countActiveElements)]).toEqual([path, 0])
        }
        // The inbox shows every payload as it was written, the newest first.
        await open('/inbox')
        const openSubmission = page.getByRole('region', { name: 'Open submission' })
        for (let from = XSS_PAYLOADS.length - FIELDS_AT_ONCE; from >= 0; from -= FIELDS_AT_ONCE) {
          await page.keyboard.press('j')
          await openSubmission
            .getByText(XSS_PAYLOADS[from + 3] as string, { exact: true })
            .first()
            .waitFor()
          await waitUntilDrawn(page)
          expect([from, await page.evaluate(countActiveElements)]).toEqual([from, 0])
        }
        await openSubmission
          .getByText(XSS_PAYLOADS[0] as string, { exact: true })
          .first()
          .waitFor()
        expect(errors).toEqual([])
        await close()
      },
      120_000,
    )
  },
  { environment: { TRUST_PROXY: '' } },
)
