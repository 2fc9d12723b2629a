// The API's messages are English. The bundle of another language has a translator here (bundle-texts.ts).

export const translateError = (message: string) => message
