export const name = "no function here"
