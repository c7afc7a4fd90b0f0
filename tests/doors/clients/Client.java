import java.sql.*;
import java.util.Properties;

/** The JDBC driver, as DBeaver, DataGrip, Metabase and Tableau use it: what it finds, one line each. */
public class Client {
    public static void main(String[] where) throws Exception {
        Properties as = new Properties();
        as.put("user", where[1]);
        as.put("password", where[2]);
        as.put("prepareThreshold", "1");
        try (Connection connection = DriverManager.getConnection(where[0], as)) {
            DatabaseMetaData about = connection.getMetaData();
            ResultSet found = about.getTables(null, "public", "%", new String[] {"TABLE"});
            while (found.next()) System.out.println("table " + found.getString("TABLE_NAME"));
            found = about.getColumns(null, "public", "people", "%");
            while (found.next()) System.out.println(found.getString("COLUMN_NAME") + " " + found.getString("TYPE_NAME"));
            for (ResultSet none : new ResultSet[] {
                about.getPrimaryKeys(null, "public", "people"), about.getImportedKeys(null, "public", "people"),
                about.getIndexInfo(null, "public", "people", false, false)})
                while (none.next()) System.out.println("key");
            PreparedStatement asked = connection.prepareStatement(
                "SELECT sex, COUNT(*) AS n FROM people WHERE age >= ? AND born = ? GROUP BY sex");
            for (int i = 0; i < 3; i++) {
                asked.setInt(1, 30);
                asked.setDate(2, Date.valueOf("1990-01-01"));
                ResultSet rows = asked.executeQuery();
                while (rows.next()) System.out.println(rows.getString(1) + " is " + rows.getLong(2));
                System.out.println(asked.getWarnings().getMessage());
            }
            connection.setAutoCommit(false);
            Statement pages = connection.createStatement();
            pages.setFetchSize(10);
            int count = 0;
            ResultSet rows = pages.executeQuery("SELECT age, COUNT(*) AS n FROM people WHERE age < 25 GROUP BY age");
            while (rows.next()) count++;
            connection.commit();
            System.out.println("rows " + count);
            try {
                pages.executeQuery("SELECT person FROM people");
            } catch (SQLException refused) {
                System.out.println("refused " + refused.getSQLState());
            }
            connection.rollback();
            System.out.println("valid " + connection.isValid(5));
        }
    }
}
