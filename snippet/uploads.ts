// The part of the snippet for forms with files: checks before the upload, and its progress. uploads-script.ts is its
// file for the script tag.

import { formPrototype } from './endpoints.ts'
import { findFileErrors } from './file-errors.ts'
import type { FormInfo } from './form-info.ts'
import { insertBeforeButton } from './insert-before-button.ts'
import type { FormMessages } from './messages.ts'
import { sendUpload } from './upload-request.ts'

/** A form that is being submitted with files. */
export interface FormUpload {
  form: HTMLFormElement
  key: string
  facts?: Partial<FormInfo>
  messages: FormMessages
}

export interface UploadTools {
  /** @returns the answer that the server would give; undefined if there is no error */
  check(upload: FormUpload, body: FormData): Response | undefined
  send(upload: FormUpload, url: string, body: FormData, abort: AbortController): Promise<Response>
}

const UPLOADING = 'Uploading: {percent} %'

export const uploadTools: UploadTools = {
  check({ facts = {} }, body) {
    const errors = findFileErrors(body, facts)
    return Object.keys(errors).length > 0 ? Response.json({ ok: false, errors }, { status: 422 }) : undefined
  },

  async send({ form, key: formKey, facts, messages }, url, body, abort) {
    const bar = document.createElement('progress')
    bar.className = 'towpath-progress'
    insertBeforeButton(form, bar)
    // Screen readers do not announce changes inside a busy element.
    formPrototype.removeAttribute.call(form, 'aria-busy')
    let quarters = -1
    const show = (sent: number, total: number) => {
      bar.max = total
      bar.value = sent
      // A screen reader announces each change of the line: four are enough.
      const reached = Math.floor((sent / total) * 4)
      if (reached === quarters) return
      quarters = reached
      const text = (facts?.texts?.uploading || UPLOADING).replace('{percent}', String(quarters * 25))
      bar.setAttribute('aria-label', text)
      messages.prepare(text)
    }
    show(0, 1)
    try {
      return await sendUpload(url, body, abort, ({ sent, total }) => {
        show(sent, total)
        const detail = { formKey, sent, total }
        formPrototype.dispatchEvent.call(form, new CustomEvent('towpath:progress', { detail, bubbles: true }))
      })
    } finally {
      bar.remove()
    }
  },
}
