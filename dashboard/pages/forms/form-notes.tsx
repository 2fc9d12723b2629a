// Notes below the code of a form: the pages that senders see, and the requirements of the settings.

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { FormResource } from '../../../server/features/forms/schema.ts'

/** The pages that senders see with this code, in sentences. */
function describeSending(form: FormResource, language: string): ReactNode[] {
  if (language !== 'html')
    return [
      'Senders stay on the page. The script shows the success message, the errors, or a notice that sending failed.',
    ]
  const page = form.pageUrl ?? 'your home page, because browsers send only your site’s address'
  const success =
    form.redirectUrl ??
    (form.afterSubmit === 'hosted' ? 'a thank-you page of this server with a link back' : page)
  const mistake =
    form.onError === 'hosted' ? 'a page of this server that lists the errors' : `${page} and no message`
  return [
    'With the snippet, senders stay on the page and see the success message or the errors at the form.',
    <>
      Without it, senders see {success} after sending, and {mistake} after a mistake.{' '}
      <Link
        to="/$workspaceId/forms/$formKey"
        from="/$workspaceId/forms/$formKey"
        search={{ tab: 'settings', page: 'sending' }}
        className="text-link"
      >
        Choose what senders see
      </Link>
    </>,
  ]
}

export function FormNotes({ form, language }: { form: FormResource; language: string }) {
  const notes: ReactNode[] = [
    ...describeSending(form, language),
    'Name the fields as you like: each value is stored under its own name. Fields whose names begin with _ aren’t stored.',
  ]
  if (form.captcha)
    notes.push(
      language === 'html'
        ? 'This form has a captcha. The snippet shows it and fills it in.'
        : 'This form has a captcha. The snippet fills it in only for HTML forms: use the HTML code with the snippet.',
    )
  if (form.uploads && language === 'html')
    notes.push(
      'The form takes files: keep enctype="multipart/form-data", without which browsers send only their names.',
    )
  if (Object.keys(form.messages).length > 0)
    notes.push(
      'The hidden field _lang names the language of the messages. Without it, the browser’s language decides.',
    )
  if (form.consent)
    notes.push('Show the text beside the checkbox as it is in the settings: it is stored with the consent.')
  if (form.requiredFields.length > 0) notes.push('Submissions without the required fields are rejected.')
  return (
    <ul className="grid list-disc gap-1.5 pl-5 text-sm wrap-anywhere text-soft">
      {notes.map((note, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order of the notes does not change
        <li key={at}>{note}</li>
      ))}
    </ul>
  )
}
