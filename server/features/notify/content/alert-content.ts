// The content of an alert of a view, as it was counted: all attempts and all channels say the same.

import type { AlertContent, NoticeContent } from '../channels/contract.ts'

/** @param payload JSON of `AlertContent` */
export function toAlertNotice({ payload, createdAt }: { payload: string; createdAt: number }): NoticeContent {
  const { name, url, reason, period, timezone, links = [], count }: AlertContent = JSON.parse(payload)
  return {
    form: { formKey: '', name },
    submissionId: 0,
    number: null,
    createdAt,
    fields: new Map([
      ['Reason', reason],
      links.length > 0
        ? [
            'Links',
            [...links.map(({ shortUrl }) => shortUrl), ...(count > links.length ? ['…'] : [])].join('\n'),
          ]
        : ['Hours', `${period} (${timezone})`],
    ]),
    email: null,
    attribution: '',
    url,
    submissionJson: payload,
  }
}
