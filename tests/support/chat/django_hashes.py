"""Hashes of one password created by Django 5.2."""

DJANGO_PASSWORD = "to be, or not to be"
DJANGO_HASHES = {
    "argon2": "argon2$argon2id$v=19$m=102400,t=2,p=8$VW1HQTd1YjVzdU9uZFJmTU9UT1NZRA"
    "$lJHoAQ1Cp++/+1bWXZqiMle4W1FT+WZuCtuDd2pJLMU",
    "pbkdf2": "pbkdf2_sha256$1000000$PGDah6Sikl8O4ew2annmWW"
    "$YseZ5ZCXTN8LdQnloKu3szOE/5oAlaPa9l8agCttZ50=",
    "pbkdf2 of an older release": "pbkdf2_sha256$20000$elsinoreelsinore"
    "$j0mAOdn2HrK9sC78noTtgoji3xkmlRsV49HrFVYaHWs=",
}
CHEAP_ARGON2 = (
    "argon2$argon2id$v=19$m=64,t=1,p=8$IrEUxUuSCGIQ3Ctnct2pMg$jtq"
    "Yyd01wxf4Xa+eJ/gu5U+0dCA0FO8EJ0HBfQYI9j8"
)
"""A hash of the same password in Django's form that needs 64 KiB instead of 100 MiB."""
