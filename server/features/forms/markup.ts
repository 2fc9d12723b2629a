// The honeypot of a form, and names of fields as words. The dashboard's examples, the page check and the pages for
// senders share it. It imports nothing, because the dashboard takes it into its bundle.

/**
 * The honeypot to paste into a form. It is out of sight, out of the order of tabs and of password managers' reach, and not
 * `display:none` or `type="hidden"`, which robots skip. A policy of the page may forbid the style: then its text keeps
 * people from filling it in.
 */
export const HONEYPOT_HTML =
  '<div style="position:absolute;left:-9999px" aria-hidden="true">Leave this empty: <input name="_gotcha" tabindex="-1" autocomplete="off"></div>'

/** `First name` for `first_name`, `firstName` and `first-name[]`. */
export function toFieldLabel(name: string): string {
  const words = name
    .replace(/[-_[\]]+/g, ' ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .trim()
    .toLowerCase()
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1)
}
