// A form that names hosts sends nobody elsewhere: a stranger's page could post to the form and lead on to the stranger's
// site by `_next`, with this server's name in between.

import { expect, test } from 'bun:test'
import {
  BEHIND_PROXY,
  createTestForm,
  NAVIGATION_HEADERS,
  nextSenderAddress,
  URLENCODED_TYPE,
} from '../support/form-requests.ts'
import { onBothEngines } from '../support/world.ts'

const PAGE = 'https://site.example/contact'
const HOSTS = [
  'site.example',
  'xn--bcher-kva.example',
  'other.example:8443',
  'plain.example:80',
  '[2001:db8::1]',
]

onBothEngines(
  'a form with nextHosts',
  (server) => {
    async function targetOf(settings: object, fields: Record<string, string>, referer = PAGE) {
      const { key } = await createTestForm(server(), settings)
      const { status, headers } = await server().call(`/f/${key}`, {
        method: 'POST',
        body: new URLSearchParams({ email: 'ann@example.com', ...fields }).toString(),
        headers: {
          ...NAVIGATION_HEADERS,
          'Content-Type': URLENCODED_TYPE,
          Referer: referer,
          'X-Forwarded-For': nextSenderAddress(),
        },
      })
      expect(status).toBe(303)
      return headers.get('location')
    }
    const leads = (_next: string, referer?: string) => targetOf({ nextHosts: HOSTS }, { _next }, referer)

    test.each([
      ['https://site.example/thanks', 'https://site.example/thanks'],
      ['http://SITE.example.:80/', 'http://site.example./'],
      ['/thanks', 'https://site.example/thanks'],
      ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
      ['https://other.example:8443/x', 'https://other.example:8443/x'],
      ['http://plain.example/', 'http://plain.example/'],
      ['https://[2001:DB8:0::1]/', 'https://[2001:db8::1]/'],
    ])('leads on to %s', async (next, target) => {
      expect(await leads(next)).toBe(target)
    })

    test.each([
      'https://evil.example/',
      'https://site.example.evil.example/',
      'https://evil-site.example/',
      'https://sub.site.example/',
      '//evil.example/',
      'https:\\\\evil.example/',
      'https://site.example@evil.example/',
      'https://site.example:8443/',
      'https://other.example/',
      'https://plain.example/',
      'https://evil.example/?site.example',
      'https://evil.example\t/',
    ])('skips %s', async (next) => {
      expect(await leads(next)).toBe(PAGE)
    })

    test('skips a relative _next of a page on another host', async () => {
      expect(await leads('/phish', 'https://evil.example/form')).toBe('https://evil.example/form')
    })

    test('goes on to redirectUrl, which the owner has chosen, whatever its host', async () => {
      const settings = { nextHosts: HOSTS, redirectUrl: 'https://elsewhere.example/thanks' }
      expect(await targetOf(settings, { _next: 'https://evil.example/' })).toBe(
        'https://elsewhere.example/thanks',
      )
    })

    test('answers what the honeypot caught in the same way', async () => {
      for (const _next of ['https://evil.example/', 'https://site.example/thanks']) {
        expect(await targetOf({ nextHosts: HOSTS }, { _next, _gotcha: 'x' })).toBe(await leads(_next))
      }
    })

    test('without hosts leads anywhere, also what the honeypot caught', async () => {
      for (const _gotcha of ['', 'x']) {
        expect(await targetOf({}, { _next: 'https://any.example/', _gotcha })).toBe('https://any.example/')
      }
    })

    test('stores its hosts as URLs write them, each once', async () => {
      const ws = await server().createWorkspace()
      const body = {
        name: 'a',
        nextHosts: ['Bücher.example.', 'xn--bcher-kva.EXAMPLE', 'A.example:0443', '[2001:DB8::0]'],
      }
      const { json } = await ws.api('/forms', { method: 'POST', body })
      expect(json.data.nextHosts).toEqual(['xn--bcher-kva.example', 'a.example:443', '[2001:db8::]'])
      const cleared = await ws.api(`/forms/${json.data.formKey}`, {
        method: 'PATCH',
        body: { nextHosts: null },
      })
      expect(cleared.json.data.nextHosts).toEqual([])
    })
  },
  BEHIND_PROXY,
)
