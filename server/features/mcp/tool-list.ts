// The tools for AI assistants: a selection of the API's operations, in plain words. Arguments and rules come from the
// operations themselves (build-tools.ts), so that a tool takes what the API takes.

export interface ToolChoice {
  name: string
  /** The `operationId` in the API reference. */
  operation: string
  description: string
  /** The tool changes data. */
  writes?: 'adds' | 'changes' | 'deletes'
  /** The answer has texts that strangers chose: senders of forms, visitors, pages that link here, services that answer. */
  fromStrangers?: true
  /** The arguments of large operations that the tool offers; all of them when absent. */
  only?: readonly string[]
}

const RANGE = ['interval', 'start', 'end', 'timezone']
const FILTERS = [
  'linkId',
  'tagId',
  'domain',
  'slug',
  'country',
  'device',
  'browser',
  'os',
  'referrer',
  'source',
  'channel',
  'utmSource',
  'utmMedium',
  'utmCampaign',
  'utmTerm',
  'utmContent',
  'variant',
]
const LINK_FIELDS = [
  'destinationUrl',
  'slug',
  'domain',
  'title',
  'comments',
  'tagNames',
  'externalId',
  'archived',
  'startsAt',
  'expiresAt',
  'expiredUrl',
  'clickLimit',
  'leadLimit',
  'forwardQuery',
  'trackConversions',
  'geoTargeting',
  'deviceTargeting',
  'split',
  'splitEndsAt',
  'redirectStatus',
  'utmSource',
  'utmMedium',
  'utmCampaign',
  'utmTerm',
  'utmContent',
]

export const TOOL_LIST: readonly ToolChoice[] = [
  {
    name: 'get_workspace',
    operation: 'getWorkspace',
    description: 'Shows the workspace that the API key belongs to: its name, plan, limits and totals.',
  },
  {
    name: 'find_links',
    operation: 'listLinks',
    description:
      'Finds short links by text (slug, destination or title), tag, domain or external id, with their clicks and leads. Newest first.',
  },
  { name: 'get_link', operation: 'getLink', description: 'Shows one short link with all its settings.' },
  {
    name: 'list_deleted_links',
    operation: 'listTrash',
    description: 'Lists the short links in the trash, last deleted first. restore_link brings one back.',
  },
  {
    name: 'list_destinations',
    operation: 'listDestinations',
    fromStrangers: true,
    description:
      'Lists the destinations of links, with the result of the daily check of each. `state` "broken,parked,failing" has those that need a repair.',
  },
  {
    name: 'explain_redirect',
    operation: 'resolveLink',
    description:
      'Shows where a short link leads a visitor of a given country, device, language or time, and by which rule. It is not counted as a click.',
  },
  {
    name: 'check_slug',
    operation: 'getSlugAvailability',
    description: 'Tells whether a slug is free for a new short link.',
  },
  {
    name: 'compare_split',
    operation: 'getSplit',
    description:
      'Compares the variants of a split link: clicks, leads and rates, and whether the difference is more than chance.',
  },
  { name: 'list_tags', operation: 'listTags', description: 'Lists the tags, with their number of links.' },
  {
    name: 'list_domains',
    operation: 'listDomains',
    description: 'Lists the domains for short links, and their missing DNS records.',
  },
  {
    name: 'count_clicks',
    operation: 'countClicks',
    fromStrangers: true,
    description:
      'Counts clicks of people: a total, a timeline (groupBy "time") or a top list (groupBy "link", "country", "referrer" …). Filter by link, tag, campaign and more.',
    only: [...RANGE, 'class', ...FILTERS, 'trigger', 'groupBy', 'granularity', 'limit'],
  },
  {
    name: 'count_leads',
    operation: 'countLeads',
    fromStrangers: true,
    description:
      'Counts leads (form submissions) and their outcomes by the link, campaign or source that brought them, under a model of attribution.',
    only: [...RANGE, 'model', ...FILTERS, 'form', 'page', 'currency', 'groupBy', 'granularity', 'limit'],
  },
  {
    name: 'get_funnel',
    operation: 'getFunnel',
    fromStrangers: true,
    description:
      'Follows people from click to visit to lead to outcome, with the rates, also by link, tag, campaign, source or country.',
    only: [...RANGE, 'model', ...FILTERS, 'currency', 'groupBy', 'limit'],
  },
  {
    name: 'list_link_clicks',
    operation: 'listLinkClicks',
    fromStrangers: true,
    description:
      'Lists the single clicks of a link in the order in which they were recorded: time, place, device, source. `after` "latest" starts with new clicks only. To count clicks, use count_clicks.',
  },
  {
    name: 'list_missing_links',
    operation: 'listMissingSlugs',
    fromStrangers: true,
    description: 'Lists unknown short links that people asked for (404s), with the closest link that exists.',
  },
  {
    name: 'list_forms',
    operation: 'listForms',
    description: 'Lists the forms, with their endpoints and number of submissions.',
  },
  {
    name: 'explain_form_losses',
    operation: 'getFormLosses',
    fromStrangers: true,
    description:
      'Counts the attempts to send a form by result: stored, spam, or refused with the reason. Use it to find out why submissions are missing.',
  },
  {
    name: 'latest_submissions',
    operation: 'listAllSubmissions',
    fromStrangers: true,
    description:
      'Lists form submissions, newest first: their content, status, and campaign. Filter by form, text, status, link, campaign or time.',
  },
  {
    name: 'get_submission',
    operation: 'getSubmission',
    fromStrangers: true,
    description: 'Shows one form submission with all its fields.',
  },
  {
    name: 'explain_attribution',
    operation: 'getSubmissionAttribution',
    fromStrangers: true,
    description: 'Tells which clicks and visits led to a submission, in order, and why each of them counts.',
  },
  {
    name: 'list_replies',
    operation: 'listReplies',
    fromStrangers: true,
    description: "Lists the team's replies to a form submission, and whether the emails arrived.",
  },
  {
    name: 'list_outcomes',
    operation: 'listOutcomes',
    fromStrangers: true,
    description: 'Lists outcomes of leads (contacted, qualified, won, lost) with their values.',
  },
  {
    name: 'list_channels',
    operation: 'listChannels',
    fromStrangers: true,
    description:
      'Lists the channels that notifications and events go to (email, chat, webhooks), and which of them fail and why.',
  },
  {
    name: 'list_deliveries',
    operation: 'listDeliveries',
    fromStrangers: true,
    description:
      'Lists notifications and events that were sent to channels, newest first, with their status and last error. Filter by status, channel, form or submission.',
  },
  {
    name: 'create_link',
    operation: 'createLink',
    writes: 'adds',
    description: 'Creates a short link. Without a slug, a random one is used. New tag names become tags.',
    only: LINK_FIELDS,
  },
  {
    name: 'update_link',
    operation: 'updateLink',
    writes: 'changes',
    description:
      'Changes a short link. Arguments that are left out keep their value, and null clears one. `archived` stops the redirect.',
    only: ['id', ...LINK_FIELDS],
  },
  {
    name: 'delete_link',
    operation: 'deleteLink',
    writes: 'deletes',
    description:
      'Moves a short link to the trash: it stops redirecting at once. restore_link brings it back within 30 days.',
  },
  {
    name: 'restore_link',
    operation: 'restoreLink',
    writes: 'changes',
    description: 'Brings a deleted short link back from the trash.',
  },
  {
    name: 'end_split',
    operation: 'endSplit',
    writes: 'deletes',
    description:
      'Ends a split: the better variant becomes the destination, the first one where the difference may be chance.',
  },
  {
    name: 'create_form',
    operation: 'createForm',
    writes: 'adds',
    description: 'Creates a form. Its endpoint is the `action` of an HTML form.',
    only: ['name', 'requiredFields', 'redirectUrl', 'successMessage', 'captcha', 'allowedOrigins'],
  },
  {
    name: 'update_submission',
    operation: 'updateSubmission',
    writes: 'changes',
    fromStrangers: true,
    description:
      'Sets the status, the notes or the assignee of a form submission. The assignee is a member of the workspace.',
  },
  {
    name: 'reply_to_submission',
    operation: 'sendReply',
    writes: 'adds',
    fromStrangers: true,
    description:
      'Sends an email to the person who sent a form submission, and keeps it with the submission. Let a person read it first.',
  },
  {
    name: 'record_outcome',
    operation: 'createOutcomes',
    writes: 'adds',
    fromStrangers: true,
    description:
      'Records the outcome of a lead: contacted, qualified, won or lost, and its value. Name the lead by exactly one of submissionId, email and clickId.',
  },
]
