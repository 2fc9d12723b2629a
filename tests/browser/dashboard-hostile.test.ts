// What strangers and colleagues write is text on every page of the dashboard, never markup: two hundred attempts as
// titles, tags, names and values of fields, user agents, referrers and campaigns.

import { expect, test } from 'bun:test'
import type { TestPerson } from '../support/accounts.ts'
import { drawn, onDesk } from '../support/desk.ts'
import { MARKUP } from '../support/markup.ts'
import type { TestServer } from '../support/server.ts'

const FIELDS_AT_ONCE = 25

/** Header values cannot hold line breaks and tabs at their ends; what a browser sends is ASCII. */
const asHeader = (text: string) => text.replace(/[^\x20-\x7e]/g, ' ').trim()

async function writeEverywhere(server: TestServer, person: TestPerson) {
  const post = async (path: string, body: unknown) => {
    const answer = await person.api(path, { method: 'POST', body })
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`)
    return answer.json.data
  }
  const slugs: string[] = []
  for (let from = 0; from < MARKUP.length; from += 100) {
    const links = MARKUP.slice(from, from + 100).map((text, n) => ({
      destinationUrl: `https://example.com/?q=${encodeURIComponent(text)}#${encodeURIComponent(text)}`,
      title: text,
      comments: text,
      externalId: `${from + n} ${text}`.slice(0, 255),
      tagNames: [`${from + n} ${text}`.slice(0, 50)],
    }))
    for (const { slug } of await post('/links/bulk', links)) slugs.push(slug)
  }
  for (const [n, text] of MARKUP.entries()) {
    const campaign = encodeURIComponent(text)
    await server.click(`${slugs[n]}?utm_source=${campaign}&utm_campaign=${campaign}&utm_term=${campaign}`, {
      'User-Agent': `Mozilla/5.0 (${asHeader(text)}) AppleWebKit/537.36 Chrome/126.0.0.0 Safari/537.36`,
      Referer: `https://example.org/${campaign}?${campaign}`,
    })
  }
  const [first = ''] = MARKUP
  const form = await post('/forms', {
    name: first,
    successMessage: MARKUP.slice(0, 3).join(' '),
    requiredFields: [MARKUP[9]],
  })
  for (let from = 0; from < MARKUP.length; from += FIELDS_AT_ONCE) {
    const texts = MARKUP.slice(from, from + FIELDS_AT_ONCE)
    const sent = await server.call(`/f/${form.formKey}`, {
      method: 'POST',
      body: { [MARKUP[9] as string]: first, ...Object.fromEntries(texts.map((text) => [text, text])) },
      headers: {
        'User-Agent': asHeader(texts[0] as string),
        Referer: `https://shop.example/${encodeURIComponent(texts[1] as string)}?utm_source=${encodeURIComponent(texts[2] as string)}`,
      },
    })
    if (sent.status !== 200) throw new Error(`the form was refused: ${sent.text}`)
  }
  await server.shipped()
  const { json } = await person.api(`/forms/${form.formKey}/submissions`)
  for (const { id } of json.data) {
    await person.api(`/submissions/${id}`, { method: 'PATCH', body: { notes: first } })
  }
  const channel = await post('/channels', { type: 'webhook', name: first, url: 'https://hooks.example/x' })
  const links = await person.api('/links?limit=100')
  const [{ id: submission }] = json.data
  return { form: form.formKey as string, channel, links: links.json.data as { id: number }[], submission }
}

onDesk(
  'what strangers write into the dashboard',
  (desk) => {
    test('is read and never run', async () => {
      const person = await desk().person({ name: MARKUP[0] })
      const { form, links, submission } = await writeEverywhere(desk().server, person)
      const { page, errors, open, close } = await desk().window(person)
      const searched = encodeURIComponent(MARKUP[9] as string)
      const pages = [
        '/links',
        `/links?search=${searched}`,
        ...links.slice(0, 2).map(({ id }) => `/links/${id}`),
        `/links?edit=${links[0]?.id}`,
        '/analytics',
        `/analytics?utmSource=${searched}`,
        '/analytics?metric=leads',
        '/forms',
        `/forms/${form}`,
        `/forms/${form}?tab=settings`,
        `/forms/${form}?tab=losses`,
        `/inbox?open=${submission}`,
        '/tags',
        '/channels',
        '/deliveries',
        '/settings?tab=members',
      ]
      // Nothing that was written has become an element that could do something.
      const alive = `document.querySelectorAll('script:not([src]), [onerror], [onload], [href^="javascript:"], iframe').length`
      for (const path of pages) {
        await open(path)
        expect([path, await page.evaluate(alive)]).toEqual([path, 0])
      }
      // And it is there, as it was written: the newest first.
      await open('/inbox')
      const opened = page.getByRole('region', { name: 'The open submission' })
      for (let from = MARKUP.length - FIELDS_AT_ONCE; from >= 0; from -= FIELDS_AT_ONCE) {
        await page.keyboard.press('j')
        await opened
          .getByText(MARKUP[from + 3] as string, { exact: true })
          .first()
          .waitFor()
        await drawn(page)
        expect([from, await page.evaluate(alive)]).toEqual([from, 0])
      }
      await opened
        .getByText(MARKUP[0] as string, { exact: true })
        .first()
        .waitFor()
      expect(errors).toEqual([])
      await close()
    }, 120_000)
  },
  { environment: { TRUST_PROXY: '' } },
)
