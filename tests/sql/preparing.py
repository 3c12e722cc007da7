"""What PostgreSQL says of statements, and the rows of others by the names of their columns."""

import psycopg2


def errors(connection, statements):
    """What the server says of each, in their order: its error, or nothing."""
    return [error_of(connection, sql) for sql in statements]


def error_of(connection, sql):
    try:
        connection.run(sql)
    except psycopg2.Error as error:
        return str(error)
    return ""


def errors_of_preparing(connection, statements):
    found = errors(connection, [f"PREPARE statement_{n} AS {sql}" for n, sql in enumerate(statements)])
    connection.run("DEALLOCATE ALL")
    return found


def named_rows(connection, query):
    cursor = connection.run(query)
    return [dict(zip((column.name for column in cursor.description), row)) for row in cursor]
