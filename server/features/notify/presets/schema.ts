// The presets of channels of type http, for the dashboard, the docs and the tests: requests as the services document them.
// docs/integrations.md cites the pages. What is in ‹› is the person's own.

export interface HttpPreset {
  id: string
  name: string
  method: 'POST' | 'PUT' | 'PATCH'
  url: string
  headers: Record<string, string>
  body: string
  /** The place of the values in ‹›. */
  hint: string
}

const json = (value: unknown) => JSON.stringify(value, null, 2)
/** A value in place of a text: what is absent is null. */
const withValues = (body: string) => body.replace(/"\{\{=(.*?)\}\}"/g, '{{$1}}')

/** All that the event says, under the names of a webhook. */
const EVERYTHING = withValues(json({ type: '{{event}}', timestamp: '{{timestamp}}', data: '{{=data}}' }))

export const HTTP_PRESETS: HttpPreset[] = [
  {
    id: 'google-sheets',
    name: 'Google Sheets',
    method: 'POST',
    url: 'https://script.google.com/macros/s/‹deployment›/exec',
    headers: {},
    body: withValues(
      json({
        secret: '‹a long random text, the same as in the script›',
        id: '{{messageId}}',
        row: {
          Time: '{{timestamp}}',
          Form: '{{formName}}',
          Name: '{{fields.name}}',
          Email: '{{email}}',
          Message: '{{fields.message}}',
          Campaign: '{{utmCampaign}}',
          Link: '{{link.shortUrl}}',
        },
      }),
    ),
    hint: 'Extensions > Apps Script in your sheet: paste the script of the docs, deploy it as a web app for anyone, and copy its URL.',
  },
  {
    id: 'hubspot',
    name: 'HubSpot',
    method: 'POST',
    url: 'https://api.hubapi.com/crm/v3/objects/contacts/batch/upsert',
    headers: { Authorization: 'Bearer ‹access token of a private app›' },
    body: json({
      inputs: [
        {
          idProperty: 'email',
          id: '{{email}}',
          properties: {
            email: '{{email}}',
            firstname: '{{fields.name}}',
            message: '{{fields.message | 65536}}',
          },
        },
      ],
    }),
    hint: 'Settings > Integrations > Private apps, with the scope crm.objects.contacts.write.',
  },
  {
    id: 'notion',
    name: 'Notion',
    method: 'POST',
    url: 'https://api.notion.com/v1/pages',
    headers: { Authorization: 'Bearer ‹secret of an integration›', 'Notion-Version': '2022-06-28' },
    body: withValues(
      json({
        parent: { database_id: '‹database›' },
        properties: {
          Name: { title: [{ text: { content: '{{fields.name | 2000}}' } }] },
          Email: { email: '{{=email}}' },
          Message: { rich_text: [{ text: { content: '{{fields.message | 2000}}' } }] },
        },
      }),
    ),
    hint: 'Make an integration, connect it to the database, and copy the id from the address of the database. Its columns: Name, Email (email), Message (text).',
  },
  {
    id: 'airtable',
    name: 'Airtable',
    method: 'POST',
    url: 'https://api.airtable.com/v0/‹base›/‹table›',
    headers: { Authorization: 'Bearer ‹personal access token›' },
    body: json({
      records: [
        { fields: { Name: '{{fields.name}}', Email: '{{email}}', Message: '{{fields.message | 100000}}' } },
      ],
      typecast: true,
    }),
    hint: 'A personal access token with data.records:write; base (app…) and table (tbl…) are in the address of the table.',
  },
  {
    id: 'mailchimp',
    name: 'Mailchimp',
    method: 'POST',
    url: 'https://‹us1›.api.mailchimp.com/3.0/lists/‹audience›/members?skip_merge_validation=true',
    headers: { Authorization: 'Bearer ‹API key›' },
    body: json({
      email_address: '{{email}}',
      status: 'pending',
      merge_fields: { FNAME: '{{fields.name | 255}}' },
    }),
    hint: 'The part after the dash of your API key is your data center. Pending: Mailchimp asks the person to confirm. A member that is known already is refused.',
  },
  {
    id: 'n8n',
    name: 'n8n',
    method: 'POST',
    url: 'https://‹your n8n›/webhook/‹path›',
    headers: { 'X-Towpath-Token': '‹the value of Header Auth›' },
    body: EVERYTHING,
    hint: 'A Webhook node with the method POST and Header Auth. Use its production URL.',
  },
  {
    id: 'zapier',
    name: 'Zapier',
    method: 'POST',
    url: 'https://hooks.zapier.com/hooks/catch/‹account›/‹hook›/',
    headers: {},
    body: EVERYTHING,
    hint: 'The trigger Webhooks by Zapier > Catch Hook shows the address.',
  },
  {
    id: 'make',
    name: 'Make',
    method: 'POST',
    url: 'https://hook.‹eu1›.make.com/‹hook›',
    headers: { 'x-make-apikey': '‹API key of the webhook›' },
    body: EVERYTHING,
    hint: 'The module Webhooks > Custom webhook shows the address. Leave out the header where the webhook has no key.',
  },
  {
    id: 'ntfy',
    name: 'ntfy',
    method: 'POST',
    url: 'https://ntfy.sh/',
    headers: { Authorization: 'Bearer ‹access token›' },
    body: json({
      topic: '‹topic›',
      title: 'New submission to {{formName | 100}}',
      message: '{{fields.name | 200}}\n{{fields.message | 1000}}',
      tags: ['incoming_envelope'],
    }),
    hint: 'Without a reserved topic, leave out the header. Everyone who knows the topic can read it.',
  },
  {
    id: 'mattermost',
    name: 'Mattermost',
    method: 'POST',
    url: 'https://‹your Mattermost›/hooks/‹hook›',
    headers: {},
    body: json({
      attachments: [
        {
          fallback: 'New submission',
          title: 'New submission',
          fields: [
            { short: true, title: 'Form', value: '{{formName}}' },
            { short: true, title: 'Email', value: '{{email}}' },
            { short: false, title: 'Message', value: '{{fields.message | 4000}}' },
          ],
        },
      ],
    }),
    hint: 'Integrations > Incoming Webhooks. For people, a channel of type Slack with the same address also keeps mentions and Markdown of senders inert.',
  },
]
