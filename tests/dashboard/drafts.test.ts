// The settings of channels, forms and imports while they are edited, and the requests that they become.

import { describe, expect, test } from 'bun:test'
import type { ChannelResource } from '../../dashboard/api/channels.ts'
import { CHANNEL_KINDS, type ChannelKind } from '../../dashboard/pages/channels/channel-kinds.tsx'
import {
  findAddressError,
  hasOwnMessages,
  isMasked,
  toChannelBody,
  toFormValues,
  toTemplate,
} from '../../dashboard/pages/channels/drawer/channel-values.ts'
import {
  type FormDraft,
  findChanges,
  findSettingsPage,
  GROUPS,
  listPagesOf,
  SETTINGS_PAGES,
  SHOWN_SETTINGS,
} from '../../dashboard/pages/forms/settings/form-draft.ts'
import { findFileProblem } from '../../dashboard/pages/transfer/new/file-problem.ts'
import {
  clearImportDraft,
  getImportDraft,
  type ImportDraft,
  isZip,
  saveImportDraft,
  toImportSettings,
  toSource,
} from '../../dashboard/pages/transfer/new/import-draft.ts'
import type { FormResource } from '../../server/features/forms/schema.ts'

describe('a channel', () => {
  const kindOf = (type: string) => CHANNEL_KINDS.find((kind) => kind.type === type) as ChannelKind
  const empty = toFormValues()
  const stored = (fields: object) =>
    ({
      name: 'CRM',
      to: [],
      url: null,
      chatId: null,
      template: null,
      digest: null,
      quietHours: null,
      attachUpTo: 0,
      ...fields,
    }) as unknown as ChannelResource

  test('is edited with its values, except those that the API masks', () => {
    expect(empty).toMatchObject({ name: '', to: '', url: '', chatId: '', template: null, digest: null })
    const webhook = stored({ type: 'webhook', url: 'https://a.b/', template: { subject: null, text: 'x' } })
    expect(toFormValues(webhook)).toMatchObject({ url: 'https://a.b/', template: { subject: '', text: 'x' } })
    expect(toFormValues(stored({ type: 'slack', url: 'https://…' })).url).toBe('')
    expect(toFormValues(stored({ type: 'email', to: ['a@b.c', 'd@e.f'], digest: 'day' }))).toMatchObject({
      to: 'a@b.c\nd@e.f',
      digest: 'day',
    })
    expect([webhook, stored({ type: 'email' })].map(isMasked)).toEqual([false, true])
    expect(['webhook', 'email', 'slack'].map(kindOf).map(hasOwnMessages)).toEqual([false, true, true])
  })

  test.each<[string, object, boolean, object]>([
    ['webhook', { name: ' CRM ', url: ' https://a.b ' }, false, { name: 'CRM', url: 'https://a.b' }],
    ['webhook', { url: '' }, true, { name: 'Webhook' }],
    ['slack', { url: 'https://chat.acme.example/hooks/1' }, false, { name: 'chat.acme.example' }],
    ['slack', { url: 'https://hooks.slack.com/services/1' }, false, { name: 'Slack' }],
    ['slack', { url: 'nothing' }, false, { name: 'Slack', url: 'nothing', digest: null, template: null }],
    ['email', { to: 'a@b.c, d@e.f;\n' }, false, { name: 'Email', to: ['a@b.c', 'd@e.f'] }],
    ['telegram', { botToken: ' t ', chatId: ' 1 ' }, false, { botToken: 't', chatId: '1' }],
  ])('of type %s is saved: %p', (type, values, isEdited, body) => {
    const sent = toChannelBody(kindOf(type), { ...empty, ...values }, isEdited)
    expect(sent).toMatchObject(body)
    expect('url' in sent).toBe('url' in body || (type === 'slack' && !isEdited))
  })

  test('keeps a template without a subject as one', () => {
    expect(toTemplate({ subject: ' ', text: 'x' })).toEqual({ subject: null, text: 'x' })
    expect(toTemplate({ subject: ' s ', text: 'x' })).toEqual({ subject: 's', text: 'x' })
    expect(toTemplate(null)).toBeNull()
  })

  test('says which address is wrong', () => {
    const values = { ...empty, to: 'a@b.c d@' }
    expect(findAddressError({ 'to.1': 'Must be an address' }, values)).toBe('d@ isn’t an email address')
    expect(findAddressError({ 'to[0]': 'x' }, values)).toBe('a@b.c isn’t an email address')
    expect(findAddressError({ to: 'Is missing' }, values)).toBe('Is missing')
    expect(findAddressError({ 'to.9': 'Is wrong' }, values)).toBe('Is wrong')
    expect(findAddressError({ name: 'x' }, values)).toBeUndefined()
  })
})

describe('the settings of a form', () => {
  test('send what has changed', () => {
    const form = {
      name: 'Contact',
      enabled: true,
      rules: {},
      requiredFields: ['a'],
      formKey: 'k',
    } as unknown as FormResource
    const draft = {
      ...form,
      rules: { phone: { type: 'tel' } },
      requiredFields: ['a'],
      formKey: 'other',
    } as unknown as FormDraft
    expect(findChanges(draft, form)).toEqual({ rules: { phone: { type: 'tel' } } })
    expect(SHOWN_SETTINGS).toContain('channelIds')
    expect(SHOWN_SETTINGS).not.toContain('enabled')
  })

  test('stand on one page each, which errors and addresses of earlier versions lead to', () => {
    const errors = ['rules.phone.pattern', 'name', 'names', 'uploads.maxFiles', 'ruless']
    expect(listPagesOf(errors)).toEqual(['fields', 'files', 'general'])
    expect(SETTINGS_PAGES[0].id).toBe('notifications')
    const settings = GROUPS.flatMap((group) => group.settings as string[])
    expect(new Set(settings).size).toBe(settings.length)
    expect(SHOWN_SETTINGS.filter((name) => !settings.includes(name))).toEqual([])
    expect(
      ['', 'x', 'fields', 'messages', 'reply', 'keep', 'notifications', 'form'].map(findSettingsPage),
    ).toEqual([
      'notifications',
      'notifications',
      'fields',
      'fields',
      'email',
      'privacy',
      'notifications',
      'general',
    ])
  })
})

describe('an import', () => {
  const WORKSPACE = 1
  const file = (name: string, size = 1) => ({ name, size }) as File
  const inspection = {
    source: 'csv',
    mapping: { title: 'Name', slug: 'Short' },
  } as unknown as ImportDraft['inspection']

  test('is kept until it is sent, and names its tool as far as it is known', () => {
    const draft = getImportDraft(WORKSPACE)
    expect(draft).toMatchObject({ source: '', file: null, timeZone: 'UTC', onConflict: 'skip' })
    saveImportDraft(WORKSPACE, { ...draft, source: 'dub' })
    expect([getImportDraft(WORKSPACE).source, getImportDraft(2).source]).toEqual(['dub', ''])
    clearImportDraft(WORKSPACE)
    expect(getImportDraft(WORKSPACE)).toEqual(draft)
    const sources = [
      {},
      { file: file('a.csv') },
      { file: file('a.ZIP') },
      { inspection },
      { inspection, source: 'dub' as const },
    ]
    expect(sources.map((part) => toSource({ ...draft, ...part }))).toEqual([
      undefined,
      undefined,
      'towpath',
      'csv',
      'dub',
    ])
    expect([isZip(file('zip')), isZip(file('a.zip.csv'))]).toEqual([false, false])
  })

  test('sends columns only for a spreadsheet, with the changes of the person', () => {
    const draft: ImportDraft = {
      ...getImportDraft(WORKSPACE),
      inspection,
      mapping: { title: '', tags: 'Labels', comments: '' },
      domainMap: { 'a.b': 'go.example' },
      dateOrder: 'dmy',
    }
    expect(toImportSettings(draft)).toMatchObject({
      source: 'csv',
      onConflict: 'skip',
      mapping: { title: '', slug: 'Short', tags: 'Labels' },
      domainMap: { 'a.b': 'go.example' },
      dateOrder: 'dmy',
      timeZone: 'UTC',
    })
    expect(Object.keys(toImportSettings(draft).mapping ?? {})).not.toContain('comments')
    expect(toImportSettings({ ...draft, source: 'dub', dateOrder: '' })).toMatchObject({
      mapping: undefined,
      dateOrder: undefined,
    })
  })

  test('says of an empty and of a large file that it cannot be sent', () => {
    expect(findFileProblem(file('a.csv', 0), 10)).toBe('a.csv is empty.')
    expect(findFileProblem(file('a.csv', 10), 10)).toBeUndefined()
    expect(findFileProblem(file('a.csv', 2048), 1024)).toStartWith('a.csv has 2 KB, and at most 1 KB can be')
  })
})
