// Consent of senders: stored with the form's own text of that moment, and shown wherever a submission is.

import { expect, test } from 'bun:test'
import {
  BEHIND_PROXY,
  JSON_TYPE,
  SCRIPT_HEADERS,
  sendTo,
  URLENCODED_TYPE,
} from '../../../../tests/support/form-requests.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'

const TEXT = 'Send me the newsletter, =1+1'

onBothEngines(
  'the consent of a sender',
  (server) => {
    const createForm = async (settings: object = {}) => {
      const ws = await server().createWorkspace()
      const consent = { field: 'newsletter', text: TEXT }
      const { json } = await ws.post('/forms', { name: 'F', consent, ...settings })
      const key: string = json.data.formKey
      const path = `/forms/${key}`
      const list = async () => (await ws.api(`${path}/submissions`)).json.data.reverse()
      return { ws, key, path, list, settings: json.data }
    }
    const send = (form: { key: string }, body: string, type = URLENCODED_TYPE) =>
      sendTo(server(), form.key).post(type, body, SCRIPT_HEADERS)

    test('is stored with the text of the form, not with a text of the sender', async () => {
      const form = await createForm()
      expect(form.settings.consent).toEqual({ field: 'newsletter', text: TEXT })
      await send(form, 'newsletter=on&_consent_text=everything&consent=everything')
      const [submission] = await form.list()
      expect(submission.consent).toEqual({ field: 'newsletter', text: TEXT, at: submission.createdAt })
      expect(submission.fields).toEqual({ newsletter: 'on', consent: 'everything' })
      expect((await form.ws.api(`/submissions/${submission.id}`)).json.data.consent).toEqual(
        submission.consent,
      )
    })

    test('keeps its text when the form changes', async () => {
      const form = await createForm()
      await send(form, 'newsletter=yes&a=1')
      const change = (consent: object | null) => form.ws.patch(form.path, { consent })
      await change({ field: 'newsletter', text: 'And the catalogue' })
      await send(form, 'newsletter=yes&a=2')
      await change(null)
      await send(form, 'newsletter=yes&a=3')
      const texts = (await form.list()).map(
        ({ consent }: { consent: { text: string } | null }) => consent?.text,
      )
      expect(texts).toEqual([TEXT, 'And the catalogue', undefined])
    })

    test('is there only where the box is ticked', async () => {
      const form = await createForm()
      const bodies = [
        'a=1',
        'newsletter=',
        'newsletter=+',
        'newsletter=false',
        'newsletter=0',
        'newsletter=OFF',
        'newsletter=no',
      ]
      for (const body of bodies) await send(form, body)
      await send(form, '{"newsletter":false}', JSON_TYPE)
      await send(form, '{"newsletter":null}', JSON_TYPE)
      await send(form, '{"newsletter":{"a":1}}', JSON_TYPE)
      const ticked = ['newsletter=0&newsletter=1', 'newsletter=true', 'newsletter=I+agree']
      for (const body of ticked) await send(form, body)
      await send(form, '{"newsletter":true}', JSON_TYPE)
      const consents = (await form.list()).map(({ consent }: { consent: object | null }) => consent !== null)
      expect(consents).toEqual([...Array(9).fill(false), ...Array(4).fill(true)])
    })

    test('is asked for where the field is required', async () => {
      const form = await createForm({ requiredFields: ['newsletter'] })
      const errors = async (body: string) => (await send(form, body)).json.errors?.newsletter
      expect(await errors('a=1')).toBe('This field is required')
      expect(await errors('newsletter=')).toBe('This field is required')
      expect(await errors('newsletter=false&_lang=de')).toBe('Die Zustimmung ist erforderlich')
      expect(await errors('newsletter=1')).toBeUndefined()
      expect(await form.list()).toHaveLength(1)
    })

    test('has its columns in the CSV, where no text is a formula', async () => {
      const form = await createForm({ consent: { field: 'terms', text: '=cmd()' } })
      await send(form, 'terms=on&consent=x')
      await send(form, 'a=1')
      const { text } = await form.ws.api(`${form.path}/submissions/export?format=csv`)
      const [header = '', ...rows] = text.replace('\ufeff', '').trim().split(/\r?\n/)
      expect(header.split(',').slice(-2)).toEqual(['consent', 'consentAt'])
      expect(header).toContain('fields.consent')
      const agreed = rows.find((row) => row.includes('cmd()'))
      expect(agreed).toMatch(/,"?'=cmd\(\)"?,"?\d{4}-\d\d-\d\dT[\d:.]+Z"?$/)
      expect(rows.find((row) => !row.includes('cmd()'))).toEndWith(',,')
    })

    test.each<[object, object]>([
      [
        { field: '_x', text: 't' },
        { 'consent.field': 'must not start with "_": such fields are never stored' },
      ],
      [{ field: '', text: 't' }, { 'consent.field': 'must not be empty' }],
      [{ field: 'a', text: ' ' }, { 'consent.text': 'must not be blank' }],
      [{ field: 'a', text: 'x'.repeat(2_001) }, { 'consent.text': 'must be at most 2000 characters' }],
      [{ field: 'a' }, { 'consent.text': 'is required' }],
    ])('needs a field that is stored, and a text: case %#', async (consent, errors) => {
      const ws = await server().createWorkspace()
      const { status, json } = await ws.post('/forms', { name: 'F', consent })
      expect([status, json.errors]).toEqual([422, errors])
    })
  },
  BEHIND_PROXY,
)
