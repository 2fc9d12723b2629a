// The names of control fields: fields of a form that steer the endpoint and are never stored (docs/contract.md §7).

/** The honeypot. A person does not see it; a robot fills it in. */
export const HONEYPOT_FIELD = '_gotcha'
/** The browser's destination after a native submission. */
export const NEXT_FIELD = '_next'
/** The sender's address, where the form has no field `email`. */
export const REPLY_TO_FIELD = '_replyto'
/** The event id that links the submission to a visit. */
export const EVENT_ID_FIELD = '_service_eid'
/** The snippet's report of a page view that the server has not answered yet. */
export const PAGE_VIEW_FIELD = '_service_view'
/** Marks a submission as a test of the dashboard. */
export const TEST_FIELD = '_service_test'
/** The language of the page, such as `de`. */
export const LANGUAGE_FIELD = '_lang'
/** The captcha token, under the name that Cloudflare's widget gives it. */
export const CAPTCHA_FIELD = 'cf-turnstile-response'
/** The captcha token in JSON, where an integrator writes the name. */
export const CAPTCHA_JSON_FIELD = '_turnstile'

/** Every name with this first character is a control field, known or not. */
const CONTROL_PREFIX = '_'

export const hasControlPrefix = (name: string) => name.startsWith(CONTROL_PREFIX)

export const isControlField = (name: string) => hasControlPrefix(name) || name === CAPTCHA_FIELD
