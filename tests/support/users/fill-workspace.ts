// Fills a workspace with links, a tag, a domain, a channel, a form, a click and a submission, over HTTP but for the proof of
// the domain.

import { addVerifiedDomain } from '../server/verified-domain.ts'
import { BROWSER_USER_AGENT, type TestServer } from '../world.ts'
import type { SignedUpUser } from './sign-up.ts'

export interface FilledWorkspace {
  link: number
  slug: string
  domain: number
  form: string
  channel: number
  submission: number
}

/** A workspace can be filled more than once. */
let domains = 0

/** @param text is in every field that takes text: names, titles, form fields, referrers, campaigns */
export async function fillWorkspace(
  server: TestServer,
  person: SignedUpUser,
  text = 'spring',
): Promise<FilledWorkspace> {
  const post = async (path: string, body: unknown) => {
    const answer = await person.api(path, { method: 'POST', body })
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`)
    return answer.json.data
  }
  const tag = await post('/tags', { name: text.slice(0, 50), color: 'teal' })
  const links = []
  for (const n of [1, 2, 3]) {
    links.push(
      await post('/links', {
        destinationUrl: `https://example.com/${n}?utm_source=${encodeURIComponent(text)}`,
        title: `${text} ${n}`,
        comments: text,
        externalId: `${text} ${n}`.slice(0, 255),
        tagIds: [tag.id],
      }),
    )
  }
  const [link] = links
  const name = `go-${++domains}.example.com`
  const domain = await addVerifiedDomain(server, person.workspaceId, name, { proof_ok: 1, route_ok: 1 })
  const deleted = await post('/links', { destinationUrl: 'https://example.com/deleted', title: text })
  await person.api(`/links/${deleted.id}`, { method: 'DELETE' })
  const channel = await post('/channels', {
    type: 'webhook',
    name: text.slice(0, 100),
    url: 'https://hooks.example/x',
  })
  const form = await post('/forms', {
    name: text.slice(0, 100),
    successMessage: text,
    requiredFields: [text.slice(0, 100)],
    channelIds: [channel.id],
    rules: { [text.slice(0, 100)]: { maxLength: 10_000 }, plan: { oneOf: [text] } },
    messages: { de: { required: text } },
    uploads: {},
    reply: { subject: text.replace(/\s+/g, ' ').slice(0, 200), text },
    consent: { field: 'terms', text },
    retentionDays: 365,
  })
  const campaign = encodeURIComponent(text)
  await server.click(`${link.slug}?utm_campaign=${campaign}&utm_source=${campaign}`, {
    'User-Agent': BROWSER_USER_AGENT,
    Referer: `https://example.org/${campaign}`,
  })
  const submitted = await server.call(`/f/${form.formKey}`, {
    method: 'POST',
    body: { email: 'ada@example.com', [text.slice(0, 100)]: text, message: `${text}\n${text}`, terms: 'yes' },
    headers: {
      'User-Agent': BROWSER_USER_AGENT,
      Referer: `https://shop.example/${campaign}?utm_campaign=${campaign}&utm_source=${campaign}`,
    },
  })
  if (submitted.status !== 200) throw new Error(`the form was refused: ${submitted.status} ${submitted.text}`)
  await server.waitUntilShipped()
  const { json } = await person.api(`/forms/${form.formKey}/submissions`)
  const [submission] = json.data
  await person.api(`/submissions/${submission.id}`, { method: 'PATCH', body: { notes: text } })
  return {
    link: link.id,
    slug: link.slug,
    domain,
    form: form.formKey,
    channel: channel.id,
    submission: submission.id,
  }
}
